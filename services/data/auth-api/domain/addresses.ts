/** Address format of Supabase Auth, which is that of HTML email inputs. */
const addressPattern =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/** Returns the error text of Supabase Auth for an invalid address; undefined for a valid one. */
export function findAddressError(address: string): string | undefined {
  if (address === '') return 'An email address is required';
  if (address.length > 255) return 'An email address is too long';
  return addressPattern.test(address) ? undefined : 'Unable to validate email address: invalid format';
}

/** Returns true for E.164 numbers, with or without the plus sign and spaces. */
export function isPhone(number: string): boolean {
  return /^\+?[1-9]\d{1,14}$/.test(number.replaceAll(' ', ''));
}
