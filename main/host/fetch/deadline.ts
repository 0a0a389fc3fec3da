/** The time a request has. Its disposal ends the timer. */
export interface Deadline extends Disposable {
  /** Aborts when the time is over, or with the signal it was given. */
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
}

/**
 * Opens a deadline. `AbortSignal.timeout` and `AbortSignal.any` would do the same, but live on with all that hangs on
 * them until their time is over, which is long after most requests.
 */
export function openDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  let over = false;
  const timer = setTimeout(() => {
    over = true;
    controller.abort();
  }, timeoutMs);
  timer.unref();
  const follow = (): void => controller.abort(outer?.reason);
  if (outer?.aborted === true) follow();
  else outer?.addEventListener('abort', follow);
  return {
    signal: controller.signal,
    isOver: () => over,
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
}
