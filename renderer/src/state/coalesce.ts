/**
 * Returns a function that runs the work once, `ms` after its first call. Calls in between are covered by the same
 * run.
 */
export function coalesce(ms: number, work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, ms);
  };
}
