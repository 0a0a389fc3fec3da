import { createTargetFailure, type CheckFailure } from './failure.ts';

const checkEveryMs = 10;

/**
 * Ends a check whose server sends more than `maxBytes`. Libraries that collect a message until it is complete have no
 * limit.
 * @param bytesRead Returns the number of bytes received so far
 */
export function limitBytesRead(
  bytesRead: () => number | undefined,
  maxBytes: number,
  exceeded: (failure: CheckFailure) => void,
): Disposable {
  const timer = setInterval(() => {
    if ((bytesRead() ?? 0) <= maxBytes) return;
    clearInterval(timer);
    exceeded(createTargetFailure('response_too_large', { limit: Math.round(maxBytes / 1024 / 1024) }));
  }, checkEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
