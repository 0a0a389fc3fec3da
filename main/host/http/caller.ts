import type { IncomingMessage } from 'node:http';
import type { Caller } from '../../../services/contracts/service.ts';
import { remoteAddress } from './access.ts';
import { allowOrigins, isFromForeignSite } from './origin.ts';

/** Tells where a request comes from; `allowedOrigins` is asked at each request, since the settings may change. */
export function callerOf(allowedOrigins: () => readonly string[]): (request: IncomingMessage) => Caller {
  let patterns: readonly string[] = [];
  let isAllowed = allowOrigins(patterns);
  return (request) => {
    const current = allowedOrigins();
    if (current !== patterns) {
      patterns = current;
      isAllowed = allowOrigins(current);
    }
    return { remoteAddress: remoteAddress(request), foreignSite: isFromForeignSite(request, isAllowed) };
  };
}
