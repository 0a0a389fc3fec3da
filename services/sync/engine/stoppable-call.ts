import type { Clock } from '../../contracts/service.ts';
import type { Engine } from './engine.ts';
import type { EngineResponse } from './engine-client.ts';

/** Interval of stop requests: the engine may not have started the job at the first one. */
const stopRequestIntervalMs = 500;
/** Time from the first stop request until the call is aborted. */
const stopTimeoutMs = 10_000;

export interface StoppableJob {
  /** The engine's name of the job. */
  readonly group: string;
  readonly signal: AbortSignal;
}

/**
 * Calls the engine until the signal aborts, also while the engine is starting. On abort the engine is asked to stop the job so
 * that it can clean up, and the call is aborted after a timeout.
 *
 * @throws like {@link Engine.call}, and the signal's reason.
 */
export async function callStoppable(
  engine: Engine,
  clock: Clock,
  { path, input }: { readonly path: string; readonly input: object },
  { group, signal }: StoppableJob,
): Promise<EngineResponse> {
  const force = new AbortController();
  using stack = new DisposableStack();
  const requestStop = (): void => void engine.callIfRunning('job/stopgroup', { group });
  const onStop = (): void => {
    requestStop();
    stack.use(clock.every(stopRequestIntervalMs, requestStop));
    stack.use(clock.after(stopTimeoutMs, () => force.abort(signal.reason)));
  };
  signal.addEventListener('abort', onStop, { once: true });
  stack.defer(() => signal.removeEventListener('abort', onStop));
  return await engine.call(path, { ...input, _group: group }, { signal: force.signal, startSignal: signal });
}
