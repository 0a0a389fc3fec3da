/** The time a request has. Its disposal ends the timer. */
export interface Deadline extends Disposable {
  readonly isOver: () => boolean;
  /** Throws when the time is over, or the reason of the signal it was given. */
  readonly check: () => void;
  /** Called when the time is over or with the signal; an exchange that begins puts its own end here. */
  cancel: ((reason: unknown) => void) | undefined;
}

/**
 * Opens a deadline. `AbortSignal.timeout` and `AbortSignal.any` would do the same, but live on with all that hangs on
 * them until their time is over, which is long after most requests; and a signal of its own costs as much as a tenth of
 * a small request.
 */
export function openDeadline(timeoutMs: number, outer?: AbortSignal): Deadline {
  let late: Error | undefined;
  const deadline: Deadline = {
    isOver: () => late !== undefined,
    check() {
      if (late !== undefined) throw late;
      outer?.throwIfAborted();
    },
    cancel: undefined,
    [Symbol.dispose]() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', follow);
    },
  };
  const timer = setTimeout(() => {
    late = new Error(`no answer within ${String(timeoutMs)} ms`);
    deadline.cancel?.(late);
  }, timeoutMs);
  timer.unref();
  const follow = (): void => deadline.cancel?.(outer?.reason);
  outer?.addEventListener('abort', follow);
  return deadline;
}
