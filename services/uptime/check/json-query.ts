import { Worker } from 'node:worker_threads';
import { CheckFailure } from './failure.ts';

/** An expression that takes longer is given up. */
const patienceMs = 2000;
const workerFile = new URL(`./jsonata-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
/** Members and numbers of lists alone, as most people write them. */
const plainPath = /^\$?(?:\.?[A-Za-z_]\w*|\[\d+\])*$/;

let latest: Promise<unknown> = Promise.resolve();

/** Whether what an expression finds in a JSON text compares to a value as the operator says. */
export async function matchesJson(
  text: string,
  path: string,
  operator: string,
  expected: string,
): Promise<{ readonly holds: boolean; readonly value: string }> {
  const data = parsed(text);
  const found = plainPath.test(path) ? member(data, path) : await inTurn(() => evaluated(data, path));
  const value = shown(found);
  return { holds: compare(value, operator, expected), value: value.slice(0, 200) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A text that is none is looked at as one.
    return text;
  }
}

function member(data: unknown, path: string): unknown {
  let at = data;
  for (const [, name, index] of path.replace(/^\$\.?/, '').matchAll(/\.?([A-Za-z_]\w*)|\[(\d+)\]/g)) {
    if (typeof at !== 'object' || at === null) return undefined;
    if (index !== undefined) at = Array.isArray(at) ? at[Number(index)] : undefined;
    else if (Array.isArray(at)) {
      // As in JSONata a member of a list is that of each of its elements.
      const each = at.map((one: unknown) => member(one, name ?? '')).filter((one) => one !== undefined);
      at = each.length > 1 ? each : each[0];
    } else at = Object.hasOwn(at, name ?? '') ? (at as Record<string, unknown>)[name ?? ''] : undefined;
  }
  return at;
}

/** In a thread of its own, which is ended when it takes too long: nothing else waits for it. */
async function evaluated(data: unknown, path: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<{ value?: unknown; trouble?: string }>();
  const worker = new Worker(workerFile, {
    workerData: { data, path },
    resourceLimits: { maxOldGenerationSizeMb: 64 },
    execArgv: [],
  });
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new CheckFailure('The JSON query ended without an answer')));
  const timer = setTimeout(() => reject(new CheckFailure('The JSON query takes too long')), patienceMs);
  try {
    const { value, trouble } = await promise;
    if (trouble !== undefined) throw new CheckFailure(`Error evaluating JSON query: ${trouble}`);
    return value;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

/** One at a time, so that many take no more memory than one. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = latest.then(work, work);
  latest = turn.catch(() => undefined);
  return turn;
}

function shown(value: unknown): string {
  if (value === undefined) throw new CheckFailure('The JSON query found nothing');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function compare(value: string, operator: string, expected: string): boolean {
  switch (operator) {
    case '!=':
      return value !== expected;
    case '>':
      return Number(value) > Number(expected);
    case '>=':
      return Number(value) >= Number(expected);
    case '<':
      return Number(value) < Number(expected);
    case '<=':
      return Number(value) <= Number(expected);
    case 'contains':
      return value.includes(expected);
    default:
      return value === expected;
  }
}
