import type { Clock } from '../../contracts/service.ts';
import type { Engine, EngineAnswer } from './engine.ts';

/** How often it is asked to stop: the first time it may not have come to the job yet. */
const askEveryMs = 500;
/** From the request to stop to the end by force. */
const stopWithinMs = 10_000;

export interface Stoppable {
  /** Under which the engine knows the job. */
  readonly group: string;
  readonly signal: AbortSignal;
}

/**
 * A call that a stop ends, also while the engine is still starting: the engine is asked to, so that it can tidy up, and cut
 * off when it does not do so in time.
 *
 * @throws as {@link Engine.call}; the signal's reason.
 */
export async function stoppable(
  engine: Engine,
  clock: Clock,
  { path, input }: { readonly path: string; readonly input: object },
  { group, signal }: Stoppable,
): Promise<EngineAnswer> {
  const force = new AbortController();
  using stack = new DisposableStack();
  const ask = (): void => void engine.look('job/stopgroup', { group });
  const onStop = (): void => {
    ask();
    stack.use(clock.every(askEveryMs, ask));
    stack.use(clock.after(stopWithinMs, () => force.abort(signal.reason)));
  };
  signal.addEventListener('abort', onStop, { once: true });
  stack.defer(() => signal.removeEventListener('abort', onStop));
  return await engine.call(path, { ...input, _group: group }, { signal: force.signal, unless: signal });
}
