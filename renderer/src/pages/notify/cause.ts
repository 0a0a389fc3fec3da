/** What our own services are called on screen, by what is handed over to them. */
const receivers: Readonly<Record<string, string>> = {
  inbox: 'The inbox',
  push: 'Messages',
  notify: 'Delivery',
};

/**
 * Why a delivery failed, as a sentence. What programs are told begins with words of the peer, such as "Failed to send JSON
 * POST notification, error=401: "; what the destination answered stays, as a number for who looks it up.
 */
export function causeOf(detail: string): string {
  const receiver = /Nobody takes (\w+)\.\w+( at the moment)?: the service is (switched off|not running)\.$/.exec(
    detail,
  );
  if (receiver !== null) {
    const [, service = '', , how = ''] = receiver;
    return `${receivers[service] ?? 'The service it goes to'} is ${how}.`;
  }
  const [, code, said = ''] = /^Failed to send .{1,60}? notification(?:, error=(\d+))?: (.+)$/s.exec(detail) ?? [];
  if (said === '') return detail;
  const sentence = said.slice(0, 1).toUpperCase() + said.slice(1);
  if (code === undefined) return sentence;
  const [first = '', ...rest] = sentence.split(/(?<=[.!?])\s+/);
  return [first.replace(/[.!?]?$/, ` (error ${code})$&`), ...rest].join(' ');
}
