import type { IncomingMessage } from 'node:http';
import { getGatewayIdentity } from '../../../services/contracts/gateway.ts';
import type { Caller } from '../../../services/contracts/service.ts';
import { allowOrigins, isFromForeignSite } from './origin.ts';
import { clientAddress, publicHostBy, type Trusts } from './proxies.ts';

/** Tells where a request comes from; `allowedOrigins` is asked at each request, since the settings may change. */
export function callerOf(
  allowedOrigins: () => readonly string[],
  trusts: Trusts = () => false,
): (request: IncomingMessage) => Caller {
  const publicHost = publicHostBy(trusts);
  let patterns: readonly string[] = [];
  let isAllowed = allowOrigins(patterns);
  return (request) => {
    const current = allowedOrigins();
    if (current !== patterns) {
      patterns = current;
      isAllowed = allowOrigins(current);
    }
    const found = {
      remoteAddress: clientAddress(request, trusts),
      isCrossSite: isFromForeignSite(request, isAllowed, publicHost),
    };
    const proven = getGatewayIdentity(request);
    return proven === undefined ? found : { ...found, gatewayIdentity: proven };
  };
}
