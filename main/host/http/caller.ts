import type { IncomingMessage } from 'node:http';
import { getGatewayIdentity } from '../../../services/contracts/gateway.ts';
import type { Caller } from '../../../services/contracts/service.ts';
import { isCrossSiteRequest } from './origin.ts';
import { getClientAddress, createPublicHostResolver, type TrustPredicate } from './proxies.ts';
import { compileOriginPatterns } from '../../../services/kit/origin-patterns.ts';

/**
 * Creates a function that returns the origin of a request; `allowedOrigins` is called for each request, since the
 * settings may change.
 */
export function createCallerResolver(
  allowedOrigins: () => readonly string[],
  trusts: TrustPredicate = () => false,
): (request: IncomingMessage) => Caller {
  const publicHost = createPublicHostResolver(trusts);
  let patterns: readonly string[] = [];
  let isAllowed = compileOriginPatterns(patterns);
  return (request) => {
    const current = allowedOrigins();
    if (current !== patterns) {
      patterns = current;
      isAllowed = compileOriginPatterns(current);
    }
    const origin = {
      remoteAddress: getClientAddress(request, trusts),
      isCrossSite: isCrossSiteRequest(request, isAllowed, publicHost),
    };
    const gatewayIdentity = getGatewayIdentity(request);
    return gatewayIdentity === undefined ? origin : { ...origin, gatewayIdentity: gatewayIdentity };
  };
}
