import * as m from '#messages/gateway-settings';
import { externalServiceName } from '../contracts/gateway/external-service-name.ts';
import { z } from 'zod';
import { pathSetting } from '../kit/platform/path-setting.ts';
import { publicPathPattern } from './domain/public-paths.ts';
import { upstreamHostPattern, upstreamPattern } from './domain/upstream.ts';
import { acmeEnvironment, acmeFields } from './acme/fields.ts';
import { oidcEnvironment, oidcFields } from './oidc/fields.ts';

/** Private and link-local address ranges. */
const privateNetworks = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '127.0.0.0/8',
  'fc00::/7',
  'fe80::/10',
  '::1/128',
];

const serviceId = z.string().regex(new RegExp(`^${externalServiceName}$`), { error: m.serviceIdInvalid });
const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], { error: m.networkInvalid });
const file = pathSetting.default('');

export const Settings = z.object({
  shared: z.array(serviceId).max(50).default([]).meta({
    live: true,
    label: m.shared,
    help: m.sharedHelp,
  }),
  open: z.array(serviceId).max(50).default([]).meta({
    live: true,
    label: m.open,
    help: m.openHelp,
  }),
  name: z
    .string()
    .regex(/^([a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?)?$/, { error: m.nameInvalid })
    .default('')
    .meta({
      label: m.name,
      help: m.nameHelp,
    }),
  httpsPort: z.int().min(0).max(65_535).default(8443).meta({
    live: true,
    label: m.httpsPort,
    help: m.httpsPortHelp,
  }),
  httpPort: z.int().min(0).max(65_535).default(8080).meta({
    live: true,
    label: m.httpPort,
    help: m.httpPortHelp,
  }),
  announce: z.boolean().default(true).meta({
    live: true,
    label: m.announce,
    help: m.announceHelp,
  }),
  mdnsPort: z.int().min(1).max(65_535).default(5353).meta({
    live: true,
    label: m.mdnsPort,
    help: m.mdnsPortHelp,
  }),
  proxySignIn: z.boolean().default(false).meta({
    live: true,
    label: m.proxySignIn,
    help: m.proxySignInHelp,
  }),
  ownPorts: z.boolean().default(true).meta({
    live: true,
    label: m.ownPorts,
    help: m.ownPortsHelp,
  }),
  addresses: z
    .array(z.union([z.ipv4(), z.ipv6()], { error: m.addressesInvalid }))
    .max(20)
    .default([])
    .meta({
      live: true,
      label: m.addresses,
      help: m.addressesHelp,
    }),
  networks: z.array(network).max(100).default(privateNetworks).meta({
    live: true,
    label: m.networks,
    help: m.networksHelp,
  }),
  sharedPorts: z
    .array(z.string().regex(/^[a-z][a-z0-9]{0,31}(\.[a-z0-9]{1,31})?$/, { error: m.sharedPortsInvalid }))
    .max(50)
    .default([])
    .meta({
      live: true,
      label: m.sharedPorts,
      help: m.sharedPortsHelp,
    }),
  portNetworks: z.array(network).max(100).default([]).meta({
    live: true,
    label: m.portNetworks,
    help: m.portNetworksHelp,
  }),
  certFile: file.meta({
    live: true,
    label: m.certFile,
    help: m.certFileHelp,
  }),
  keyFile: file.meta({
    live: true,
    label: m.keyFile,
    help: m.keyFileHelp,
  }),
  outside: z
    .array(z.string().max(300).regex(upstreamPattern, { error: m.outsideInvalid }))
    .max(50)
    .default([])
    .meta({
      live: true,
      label: m.outside,
      help: m.outsideHelp,
    }),
  outsideUnverified: z.array(serviceId).max(50).default([]).meta({
    live: true,
    label: m.outsideUnverified,
    help: m.outsideUnverifiedHelp,
  }),
  outsideHosts: z
    .array(z.string().max(300).regex(upstreamHostPattern, { error: m.outsideHostsInvalid }))
    .max(50)
    .default([])
    .meta({
      live: true,
      label: m.outsideHosts,
      help: m.outsideHostsHelp,
    }),
  publicPaths: z
    .array(z.string().max(300).regex(publicPathPattern, { error: m.publicPathsInvalid }))
    .max(100)
    .default([])
    .meta({
      live: true,
      label: m.publicPaths,
      help: m.publicPathsHelp,
    }),
  strictTransport: z.boolean().default(false).meta({
    live: true,
    label: m.strictTransport,
    help: m.strictTransportHelp,
  }),
  ...acmeFields,
  ...oidcFields,
});
export type Settings = z.infer<typeof Settings>;

export const environment = {
  GATEWAY_SHARED: 'shared',
  GATEWAY_OPEN: 'open',
  GATEWAY_NAME: 'name',
  HOMEPORT_PORT_GATEWAY: 'httpsPort',
  HOMEPORT_PORT_GATEWAY_HTTP: 'httpPort',
  GATEWAY_ANNOUNCE: 'announce',
  GATEWAY_MDNS_PORT: 'mdnsPort',
  GATEWAY_PROXY_SIGN_IN: 'proxySignIn',
  GATEWAY_OWN_PORTS: 'ownPorts',
  GATEWAY_ADDRESSES: 'addresses',
  GATEWAY_NETWORKS: 'networks',
  GATEWAY_SHARED_PORTS: 'sharedPorts',
  GATEWAY_PORT_NETWORKS: 'portNetworks',
  GATEWAY_CERT_FILE: 'certFile',
  GATEWAY_KEY_FILE: 'keyFile',
  GATEWAY_OUTSIDE: 'outside',
  GATEWAY_OUTSIDE_UNVERIFIED: 'outsideUnverified',
  GATEWAY_OUTSIDE_HOSTS: 'outsideHosts',
  GATEWAY_PUBLIC_PATHS: 'publicPaths',
  GATEWAY_STRICT_TRANSPORT: 'strictTransport',
  ...acmeEnvironment,
  ...oidcEnvironment,
} as const;
