import type { GatewayState } from '../../contracts/gateway/api.ts';
import type { Shown } from './certificates.ts';

/** What the page says of the certificate that is shown, with the fingerprint of the authority behind it. */
export function certificateState(shown: Shown | undefined, fingerprint = ''): GatewayState['certificate'] {
  if (shown === undefined) return null;
  const { source, names, expiresAt } = shown;
  return { source, names: [...names], expiresAt, fingerprint };
}
