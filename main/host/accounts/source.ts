import type { Credentials } from '../../../services/contracts/control/accounts.ts';
import { toAccountNetwork } from './network.ts';

/**
 * Returns the key by which guesses are counted. Cross-site requests of a browser come from its address too and count
 * separately: a guessing page must not slow down users and programs there.
 */
export function getSource({
  remoteAddress,
  isCrossSite: isCrossSite,
}: Pick<Credentials, 'remoteAddress' | 'isCrossSite'>): string {
  return `${toAccountNetwork(remoteAddress)}${isCrossSite === true ? ' foreign site' : ''}`;
}
