import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { askThread, threadFile, ThreadTooSlow } from '../../kit/limited-thread.ts';
import { titleExpression } from './title-expression.ts';

/** For all titles of a feed together; an expression that backtracks for ever is given up after it. */
const patienceMs = 2000;
/** A title is looked at this far. */
const longestTitle = 500;
const workerFile = threadFile('title-worker', import.meta.url);

/**
 * Which titles a person's regular expression finds something in. It runs in a thread of its own, which is ended when it
 * takes too long: the process never waits for it. An empty expression lets everything through.
 * @throws Problem `downloads.bad_filter` (400), `downloads.slow_filter` (422)
 */
export async function matchTitles(regex: string, titles: readonly string[], clock: Clock): Promise<readonly boolean[]> {
  if (regex === '' || titles.length === 0) return titles.map(() => true);
  titleExpression(regex);
  try {
    return await askThread<readonly boolean[]>(workerFile, {
      clock,
      workerData: { regex, titles: titles.map((title) => title.slice(0, longestTitle)) },
      memoryMb: 64,
      limitMs: patienceMs,
    });
  } catch (error) {
    throw error instanceof ThreadTooSlow ? tooSlow : error;
  }
}

const tooSlow = new Problem(
  'downloads.slow_filter',
  422,
  'The filter takes too long on these titles: it tries too many ways to match. Make it simpler.',
);
