/** What the operating system says is running: the tests of the embedded stack ask for leftovers by command line. */
import { execFileSync } from 'node:child_process';

export interface ListedProcess {
  readonly pid: number;
  readonly command: string;
}

/** Living processes whose command line holds the text. */
export function processesWith(text: string): ListedProcess[] {
  const listing = execFileSync('ps', ['-Aww', '-o', 'pid=,state=,command='], { encoding: 'utf8' });
  return listing.split('\n').flatMap((line) => {
    const [, pid, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || command === undefined || state?.startsWith('Z')) return [];
    return command.includes(text) ? [{ pid: Number(pid), command }] : [];
  });
}
