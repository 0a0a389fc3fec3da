import { getBaseName, listBaseNames, toHostLabel } from './names.ts';

interface Client {
  /** Base URL at which the client reached the gateway. */
  readonly clientUrl: URL;
  readonly label: string;
  /** Host name of this computer. */
  readonly localHostname: string;
  /** Local port of the connection. */
  readonly localPort: number | undefined;
  /** Port that serves all services by name; undefined while it is closed. */
  readonly httpsPort: number | undefined;
  /** Dedicated port of the requested service; undefined while it is closed. */
  readonly servicePort: number | undefined;
  /** Domain of the owner; empty without one. */
  readonly domain?: string;
  /** Additional names of services. */
  readonly names: readonly string[];
}

/**
 * Returns the address of a shared service for a client: by name for a client that uses names, otherwise at the
 * service's port. Undefined for names that do not belong to this computer, such as that of a proxy.
 */
export function findAddressForClient(
  id: string,
  { clientUrl, label, localHostname, localPort, httpsPort, servicePort, names, domain = '' }: Client,
): string | undefined {
  const { hostname } = clientUrl;
  const baseHost = listBaseNames(label, domain).find((base) => hostname === base || hostname.endsWith(`.${base}`));
  const buildNameUrl = (): string | undefined => {
    // Keeps the client's port, which a router or proxy may have mapped.
    const port = localPort === httpsPort ? clientUrl.port : String(httpsPort);
    return httpsPort === undefined
      ? undefined
      : `${clientUrl.protocol}//${id}.${baseHost ?? getBaseName(label)}${port && `:${port}`}`;
  };
  if (baseHost !== undefined || names.includes(hostname)) return buildNameUrl();
  const hostNames = [
    toHostLabel(localHostname),
    localHostname.toLowerCase(),
    `${toHostLabel(localHostname)}.local`,
    'localhost',
  ];
  const isThisComputer = /^(?:[\d.]+|\[.*\])$/.test(hostname) || hostNames.includes(hostname);
  if (!isThisComputer) return undefined;
  return servicePort === undefined ? buildNameUrl() : `https://${hostname}:${String(servicePort)}`;
}
