/**
 * Why a delivery failed, as a sentence. What programs are told begins with words of the peer, such as "Failed to send JSON
 * POST notification, error=401: "; what the destination answered stays, as a number for who looks it up.
 */
export function causeOf(detail: string): string {
  const [, code, said = ''] = /^Failed to send .{1,60}? notification(?:, error=(\d+))?: (.+)$/s.exec(detail) ?? [];
  if (said === '') return detail;
  const sentence = said.slice(0, 1).toUpperCase() + said.slice(1);
  if (code === undefined) return sentence;
  const [first = '', ...rest] = sentence.split(/(?<=[.!?])\s+/);
  return [first.replace(/[.!?]?$/, ` (error ${code})$&`), ...rest].join(' ');
}
