import { externalServiceName } from '../contracts/gateway/external-service-name.ts';
import { z } from 'zod';
import { pathSetting } from '../kit/platform/path-setting.ts';
import { publicPathPattern } from './domain/public-paths.ts';
import { upstreamHostPattern, upstreamPattern } from './domain/upstream.ts';
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

const serviceId = z.string().regex(new RegExp(`^${externalServiceName}$`), 'Use the ID of a service, such as push.');
const network = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  'Use an address or a network such as 192.168.1.0/24.',
);
const file = pathSetting.default('');

export const Settings = z.object({
  shared: z
    .array(serviceId)
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Shared with sign-in',
      description:
        'IDs of the services that other computers on the home network can reach over HTTPS. Users must ' +
        'sign in, unless the service has its own sign-in. Set on the Network page.',
    }),
  open: z
    .array(serviceId)
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Shared without sign-in',
      description:
        'IDs of the services that every computer on the home network, including guests, can use without ' +
        'signing in. Set on the Network page.',
    }),
  name: z
    .string()
    .regex(/^([a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?)?$/, 'Use lowercase letters, digits and hyphens.')
    .default('')
    .meta({
      title: 'Name on the network',
      description:
        'Services are available at names such as push.NAME.local. Leave empty to use the name of this computer, on ' +
        'macOS and Windows followed by -homeport.',
    }),
  httpsPort: z.int().min(0).max(65_535).default(8443).meta({
    live: true,
    title: 'HTTPS port',
    description: 'Port of all shared services. Set to 0 to use any free port.',
  }),
  httpPort: z
    .int()
    .min(0)
    .max(65_535)
    .default(8080)
    .meta({
      live: true,
      title: 'HTTP port',
      description:
        'Serves the page from which devices get the certificate and redirects all other requests to HTTPS. ' +
        'Set to 0 to use any free port.',
    }),
  announce: z.boolean().default(true).meta({
    live: true,
    title: 'Announce names',
    description: 'Announces NAME.local with multicast DNS, so that devices on the network can find it.',
  }),
  mdnsPort: z.int().min(1).max(65_535).default(5353).meta({
    live: true,
    title: 'Multicast DNS port',
    description: 'Devices use port 5353. Other ports are only useful for tests.',
  }),
  proxySignIn: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Trust proxy sign-in',
      description:
        'Signs users in as the account named in the Remote-User header of a trusted proxy (see the ' +
        'Homeport settings), without a password.',
    }),
  ownPorts: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Service ports',
      description:
        'Each shared service is also available over HTTPS at its own port of the network address, for TVs ' +
        'and apps that cannot use host names.',
    }),
  addresses: z
    .array(z.union([z.ipv4(), z.ipv6()], 'Use an address of this computer.'))
    .max(20)
    .default([])
    .meta({
      live: true,
      title: 'Addresses',
      description: 'Addresses of this computer to listen on. Leave empty to use every address in the networks below.',
    }),
  networks: z.array(network).max(100).default(privateNetworks).meta({
    live: true,
    title: 'Networks',
    description: 'Only computers on these networks can connect. The default is all private networks.',
  }),
  sharedPorts: z
    .array(
      z.string().regex(/^[a-z][a-z0-9]{0,31}(\.[a-z0-9]{1,31})?$/, 'Use the name of a port, such as mail or git.ssh.'),
    )
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Shared ports',
      description:
        'Ports of services with a protocol other than HTTP, such as mail and git.ssh. Computers on these ' +
        'networks reach them at the same port of this computer. The service itself authenticates clients ' +
        'if required.',
    }),
  portNetworks: z.array(network).max(100).default([]).meta({
    live: true,
    title: 'Networks allowed on shared ports',
    description: 'Only these networks can reach the shared ports. Leave empty to allow all networks above.',
  }),
  certFile: file.meta({
    live: true,
    title: 'Custom certificate',
    description:
      'PEM file with a certificate and its chain, used instead of the certificates that Homeport issues. ' +
      'Changes to the file are detected automatically.',
  }),
  keyFile: file.meta({
    live: true,
    title: 'Custom certificate key',
    description: 'PEM file with the private key of the certificate.',
  }),
  outside: z
    .array(z.string().max(300).regex(upstreamPattern, 'Use NAME=ADDRESS, such as photos=http://192.168.1.5:2342.'))
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'External services',
      description:
        'NAME=ADDRESS of web services outside of Homeport. They are shared as NAME.HOST.local, with the ' +
        'same sign-in. Use h2c://HOST:PORT for HTTP/2 without TLS, such as gRPC.',
    }),
  outsideUnverified: z.array(serviceId).max(50).default([]).meta({
    live: true,
    title: 'External services with unverified certificates',
    description: 'Names of external services whose certificate is not verified.',
  }),
  outsideHosts: z
    .array(z.string().max(300).regex(upstreamHostPattern, 'Use NAME=HOST, such as torrents=127.0.0.1:8080.'))
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Host headers of external services',
      description:
        'NAME=HOST: Host header to send to an external service. Without an entry, the host name of the ' +
        'request is sent.',
    }),
  publicPaths: z
    .array(
      z.string().max(300).regex(publicPathPattern, 'Use NAME=PATH, such as photos=/share/ or home=/api/webhook/*.'),
    )
    .max(100)
    .default([])
    .meta({
      live: true,
      title: 'Paths without sign-in',
      description:
        'NAME=PATH: paths of a shared service that everyone on the network can use without signing in, ' +
        'such as guest links and webhooks. A path that ends in / or * includes everything below it.',
    }),
  strictTransport: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Always use HTTPS',
      description:
        'Browsers remember for a year to open the name of this computer, and names of your own, only with HTTPS ' +
        '(Strict-Transport-Security). This affects all ports of these names: other programs on this computer that ' +
        'do not use HTTPS, and the page with the certificate, are then reachable by address only. Names of services ' +
        'such as push.NAME.local always require HTTPS.',
    }),
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
  ...oidcEnvironment,
} as const;
