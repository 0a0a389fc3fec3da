import { LimitedProcesses, LimitExceeded } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import { systemTimer } from '../../kit/system-timer.ts';
import { createServiceFailure, DownloadProblem } from '../domain/failure.ts';
import { parseTitleExpression } from '../domain/title-expression.ts';

/** Time limit for all titles of a feed together, which stops expressions that backtrack excessively. */
const timeoutMs = 2000;
/** Maximum tested length of a title. */
const maxTitleLength = 500;
const processes = new LimitedProcesses(getThreadFile('title-process', import.meta.url), {
  clock: systemTimer,
  memoryMb: 64,
  timeoutMs,
});

/**
 * Tests which titles match a user's regular expression, in a child process with a limit on time and memory. An empty
 * expression matches every title.
 * @throws Problem `downloads.bad_filter` (400), `downloads.slow_filter` (422)
 */
export async function matchTitles(regex: string, titles: readonly string[]): Promise<readonly boolean[]> {
  if (regex === '' || titles.length === 0) return titles.map(() => true);
  parseTitleExpression(regex);
  try {
    return await processes.run<readonly boolean[]>({
      regex,
      titles: titles.map((title) => title.slice(0, maxTitleLength)),
    });
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    throw new DownloadProblem('downloads.slow_filter', 422, createServiceFailure('filter_too_slow', 'other'));
  }
}
