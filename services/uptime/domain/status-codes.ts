/** Whether a code is among those that are accepted, each `NNN` or `NNN-NNN`. */
export function isAccepted(code: number, accepted: readonly string[]): boolean {
  return accepted.some((text) => {
    const [first = '', last = first] = text.split('-');
    return code >= Number(first) && code <= Number(last);
  });
}
