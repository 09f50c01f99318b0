/** What a person reads on a terminal where something failed. */
import { expect, test } from 'vitest';
import { explain } from '../../../src/cli/explain.js';
import { GenlockProblem, GenlockUnreachable, NotGenlock } from '../../../src/client/problem.js';
import { CatalogError } from '../../../src/domain/errors.js';

test('a fault of the configuration is told with its details and what to do', () => {
  const text = explain(new CatalogError('CONFIG_INVALID', 'PORT_IN_USE', { host: '127.0.0.1', port: 8080 }));
  expect(text).toMatch(
    /^genlock: CONFIG_INVALID\/PORT_IN_USE: .*\n {2}host: 127\.0\.0\.1\n {2}port: 8080\nNext: /,
  );
});

test('a refusal by the API is told as one, and not as a fault of Genlock', () => {
  const problem = new GenlockProblem(409, {
    code: 'CONFLICT',
    reason: 'NAMESPACE_TAKEN',
    detail: 'Another server of this tenant has that namespace.',
    next: 'Read the current state and decide again.',
    details: { namespace: 'shop' },
    instance: 'urn:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427',
  });
  expect(explain(problem).split('\n')).toEqual([
    'genlock: CONFLICT/NAMESPACE_TAKEN: Another server of this tenant has that namespace.',
    '  namespace: shop',
    '  request: 1b4e28ba-2fa1-11d2-883f-0016d3cca427',
    'Next: Read the current state and decide again.',
  ]);
});

test('an API that does not answer is named by its address', () => {
  const text = explain(new GenlockUnreachable('http://127.0.0.1:8080'));
  expect(text).toContain('http://127.0.0.1:8080');
  expect(text).toContain('\nNext: ');
  expect(text).not.toContain('fault');
});

test('another program at the address is no fault of Genlock: the address is to be checked', () => {
  const text = explain(new NotGenlock('http://127.0.0.1:8080'));
  expect(text).toMatch(/^genlock: .*http:\/\/127\.0\.0\.1:8080.*\nNext: .*GENLOCK_URL/);
  expect(text).not.toContain('fault');
});

test('anything else is a fault of Genlock, in one line and without a stack', () => {
  const text = explain(new TypeError('x is not a function\n    at somewhere'));
  expect(text).toMatch(/^genlock: TypeError: x is not a function\nThis is a fault of Genlock's own\./);
  expect(text).not.toContain('at somewhere');
});
