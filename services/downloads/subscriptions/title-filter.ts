import { Worker } from 'node:worker_threads';
import { Problem } from '../../contracts/problem.ts';
import type { Clock } from '../../contracts/service.ts';
import { titleExpression } from './title-expression.ts';

/** For all titles of a feed together; an expression that backtracks for ever is given up after it. */
const patienceMs = 2000;
/** A title is looked at this far. */
const longestTitle = 500;
/** The packed app has no types in it, and other file names. */
const workerFile = new URL(`./title-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

/**
 * Which titles a person's regular expression finds something in. It runs in a thread of its own, which is ended when it
 * takes too long: the process never waits for it. An empty expression lets everything through.
 * @throws Problem `downloads.bad_filter` (400), `downloads.slow_filter` (422)
 */
export async function matchTitles(regex: string, titles: readonly string[], clock: Clock): Promise<readonly boolean[]> {
  if (regex === '' || titles.length === 0) return titles.map(() => true);
  titleExpression(regex);
  const { promise, resolve, reject } = Promise.withResolvers<readonly boolean[]>();
  const worker = new Worker(workerFile, {
    workerData: { regex, titles: titles.map((title) => title.slice(0, longestTitle)) },
    resourceLimits: { maxOldGenerationSizeMb: 64 },
    execArgv: [],
  });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the filter ended without an answer')));
  using _limit = clock.after(patienceMs, () => reject(tooSlow));
  try {
    return await promise;
  } finally {
    await worker.terminate();
  }
}

const tooSlow = new Problem(
  'downloads.slow_filter',
  422,
  'The filter takes too long on these titles: it tries too many ways to match. Make it simpler.',
);
