import dns, { promises, type LookupAddress } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';

/** Name that {@link resolveLocalName} resolves. */
export const localName = 'own.example';

/** Resolves {@link localName} to an address in this process, as a name server of an attacker would, until disposal. */
export function resolveLocalName(address = '127.0.0.1'): Disposable {
  const { lookup } = dns;
  const lookupAsync = promises.lookup;
  const local: LookupAddress = { address, family: isIP(address) };
  const replace = (callbackLookup: typeof dns.lookup, promiseLookup: typeof promises.lookup): void => {
    dns.lookup = callbackLookup;
    promises.lookup = promiseLookup;
    syncBuiltinESMExports();
  };
  const isAll = (options: unknown): boolean =>
    typeof options === 'object' && options !== null && 'all' in options && options.all === true;
  const callbackLookup = (host: string, options: unknown, callback?: (...args: unknown[]) => void): void => {
    const done = callback ?? (options as (...args: unknown[]) => void);
    if (host !== localName) return void (lookup as (...args: unknown[]) => void)(host, options, callback);
    process.nextTick(() => (isAll(options) ? done(null, [local]) : done(null, local.address, local.family)));
  };
  const promiseLookup = async (host: string, options: unknown): Promise<unknown> => {
    if (host !== localName) return (lookupAsync as (...args: unknown[]) => Promise<unknown>)(host, options);
    return isAll(options) ? [local] : local;
  };
  replace(callbackLookup as typeof dns.lookup, promiseLookup as typeof promises.lookup);
  return { [Symbol.dispose]: () => replace(lookup, lookupAsync) };
}
