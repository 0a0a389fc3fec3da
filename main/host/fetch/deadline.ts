/** Time limit of a request. Disposal ends the timer. */
export interface Deadline extends Disposable {
  readonly isOver: () => boolean;
  /** Throws when the time is over, or the reason of the outer signal. */
  readonly check: () => void;
  /** Called when the time is over or the signal aborts; the current exchange registers itself here. */
  cancel: ((reason: unknown) => void) | undefined;
}

/**
 * Opens a deadline. `AbortSignal.timeout` and `AbortSignal.any` would do the same, but keep everything that refers to
 * them until their time is over, which is long after most requests; and a separate signal costs as much as a tenth
 * of a small request.
 */
export function openDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  let timeoutTimer: Error | undefined;
  const deadline: Deadline = {
    isOver: () => timeoutTimer !== undefined,
    check() {
      if (timeoutTimer !== undefined) throw timeoutTimer;
      outer?.throwIfAborted();
    },
    cancel: undefined,
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
  const timer = setTimeout(() => {
    timeoutTimer = new Error(`no answer within ${String(timeoutMs)} ms`);
    deadline.cancel?.(timeoutTimer);
  }, timeoutMs);
  timer.unref();
  const follow = (): void => deadline.cancel?.(outer?.reason);
  outer?.addEventListener('abort', follow);
  return deadline;
}
