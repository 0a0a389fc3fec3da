import type { Credentials } from '../../../services/contracts/control/accounts.ts';
import { networkOf } from './network.ts';

/**
 * Returns the key by which guesses are counted. Cross-site requests of a browser come from its address too and count
 * separately: a guessing page must not slow down users and programs there.
 */
export function sourceOf({
  remoteAddress,
  isCrossSite: foreignSite,
}: Pick<Credentials, 'remoteAddress' | 'isCrossSite'>): string {
  return `${networkOf(remoteAddress)}${foreignSite === true ? ' foreign site' : ''}`;
}
