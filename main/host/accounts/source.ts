import type { Credentials } from '../../../services/contracts/control/accounts.ts';
import { networkOf } from './network.ts';

/**
 * What guesses are counted by. Pages of other sites that a browser on this machine shows come from its address too, and count
 * apart: a page that guesses must not hold up the people and programs there.
 */
export function sourceOf({
  remoteAddress,
  isCrossSite: foreignSite,
}: Pick<Credentials, 'remoteAddress' | 'isCrossSite'>): string {
  return `${networkOf(remoteAddress)}${foreignSite === true ? ' foreign site' : ''}`;
}
