/** Returns true when a status code matches one of the patterns `NNN` or `NNN-NNN`. */
export function isAccepted(code: number, accepted: readonly string[]): boolean {
  return accepted.some((text) => {
    const [first = '', last = first] = text.split('-');
    return code >= Number(first) && code <= Number(last);
  });
}
