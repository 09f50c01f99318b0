/**
 * Thrown from inside a running validator where a limit is reached. An exception, since returning false would
 * mean true beneath a `not`.
 */
export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded';
}
