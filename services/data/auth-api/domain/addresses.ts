/** What the peer takes for an address; the form of HTML's own check. */
const form =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** What is wrong with an address, in the peer's words; undefined when nothing is. */
export function addressComplaint(address: string): string | undefined {
  if (address === '') return 'An email address is required';
  if (address.length > 255) return 'An email address is too long';
  return form.test(address) ? undefined : 'Unable to validate email address: invalid format';
}

/** Whether this is a number as E.164 writes it, with or without its plus and with blanks. */
export function isPhone(number: string): boolean {
  return /^\+?[1-9]\d{1,14}$/.test(number.replaceAll(' ', ''));
}
