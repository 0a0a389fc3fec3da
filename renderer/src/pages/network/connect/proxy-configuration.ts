import * as m from '#messages/network';

/** Configuration of a proxy that checks the sign-in at the gateway. */
export interface ForwardAuthProxy {
  readonly id: string;
  readonly name: string;
  readonly configuration: string;
}

/**
 * Returns the supported proxies with their configuration. `home` is the address of the gateway, such as
 * `https://nas.local:8443`. Both forward `/.homeport/`, so that the session cookie belongs to the host in the
 * browser, and both overwrite the identity headers, so that those of a client are not passed on. Uses `forward_auth`
 * of Caddy and `auth_request` of nginx.
 */
export function getForwardAuthProxies(gatewayUrl: string): readonly ForwardAuthProxy[] {
  return [
    {
      id: 'caddy',
      name: 'Caddy',
      configuration: m.handleHomeportReverseProxy({ gatewayUrl }),
    },
    {
      id: 'nginx',
      name: 'nginx',
      configuration: m.locationHomeportProxyPass({ gatewayUrl }),
    },
  ];
}
