/** Tests that count rounds run few of them in `npm test`, and all of them in the command that is their own. */
export const fullForm = process.env['GENLOCK_TEST_FORM'] === 'full';

/** @returns the rounds of the form that runs */
export const rounds = (short: number, full: number): number => (fullForm ? full : short);
