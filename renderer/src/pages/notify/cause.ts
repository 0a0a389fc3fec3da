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
  const [, status] = /^Failed to send .{1,60}? notification, error=(\d{3})\.?$/.exec(detail) ?? [];
  if (status !== undefined) return answered(Number(status));
  const [, code, said = ''] = /^Failed to send .{1,60}? notification(?:, error=(\d+))?: (.+)$/s.exec(detail) ?? [];
  if (said === '') return detail;
  const sentence = said.slice(0, 1).toUpperCase() + said.slice(1);
  if (code === undefined) return sentence;
  const [first = '', ...rest] = sentence.split(/(?<=[.!?])\s+/);
  return [first.replace(/[.!?]?$/, ` (error ${code})$&`), ...rest].join(' ');
}

/** What a destination means that answers with a number and no words. */
function answered(status: number): string {
  const of = (words: string): string => `${words} (error ${String(status)}).`;
  if (status === 401 || status === 407) return of('It does not accept the sign-in');
  if (status === 403) return of('It refuses the notification');
  if (status === 404 || status === 410) return of('There is nothing at its address');
  if (status === 413) return of('The notification is too large for it');
  if (status === 429) return of('It is sent too many at once');
  if (status >= 500) return of('It reports a fault on its side');
  return `It answered with error ${String(status)}.`;
}
