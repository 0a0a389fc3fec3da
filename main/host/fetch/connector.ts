import * as m from '#messages/host-problems';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { Problem } from '../../../services/contracts/problem.ts';
import type { OwnConnections } from './own-connections.ts';

/** Resolves a host name to all its addresses. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** Returns whether connections to an IP address are refused. */
export type IsRefused = (address: string) => boolean;

/**
 * Returns a lookup for `net.connect` that passes on only checked addresses. The socket connects to exactly these, so
 * a name that later resolves to something else has no effect. One refused address refuses the name.
 */
export function checkedLookup(resolve: Resolve, isRefused: IsRefused): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (addresses) => {
        const addressesOfFamily = addresses.filter(
          ({ family }) => !options.family || options.family === family || `IPv${family}` === options.family,
        );
        const [first] = addressesOfFamily;
        if (addresses.some(({ address }) => isRefused(address))) callback(buildRefusedAddressProblem(host), '', 0);
        else if (first === undefined)
          callback(Object.assign(new Error(`No address for ${host}`), { code: 'ENOTFOUND' }), '', 0);
        else if (options.all === true) callback(null, [...addressesOfFamily]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), '', 0),
    );
  };
}

/** Checks hosts that are IP addresses, for which no lookup is made. */
export function checkedConnector(connect: buildConnector.connector, isRefused: IsRefused): buildConnector.connector {
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0 && isRefused(host)) callback(buildRefusedAddressProblem(host), null);
    else connect(options, callback);
  };
}

/**
 * Accepts only connections that do not lead to a listener of Homeport other than `allowed`, before any byte of the
 * request is sent.
 */
export function rejectOwnListeners(
  connect: buildConnector.connector,
  own: OwnConnections,
  allowed: string,
): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      try {
        own.admit(socket, options.hostname, allowed);
      } catch (refusal) {
        return callback(refusal instanceof Error ? refusal : new Error(String(refusal)), null);
      }
      callback(null, socket);
    });
  };
}

/** @see Fetch */
export function buildRefusedAddressProblem(host: string): Problem {
  return new Problem('fetch.refused_address', 403, m.privateAddress({ host: host.slice(0, 253) }));
}
