import { externalServiceName } from '../contracts/gateway/external-service-name.ts';
import { z } from 'zod';
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

const serviceId = z.string().regex(new RegExp(`^${externalServiceName}$`), 'Use the id of a service, such as push.');
const network = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  'Use an address or a network such as 192.168.1.0/24.',
);
const file = z
  .string()
  .max(4096)
  .regex(/^(|[/\\]|[A-Za-z]:[/\\]).*/, 'Use an absolute path.')
  .default('');

export const Settings = z.object({
  shared: z
    .array(serviceId)
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Shared with sign-in',
      description:
        'Ids of the services that other machines of the home network reach, encrypted. Who uses one signs ' +
        'in, unless the service asks for a password itself. The page Network sets this.',
    }),
  open: z
    .array(serviceId)
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Shared without sign-in',
      description:
        'Ids of the services that every machine of the home network may use without a sign-in in front, ' +
        'guests and their programs included. The page Network sets this.',
    }),
  name: z
    .string()
    .regex(/^([a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?)?$/, 'Use lower case letters, digits and hyphens.')
    .default('')
    .meta({
      title: 'Name on the network',
      description: 'The services answer as push.NAME.local and so on. Empty: the name of this machine.',
    }),
  httpsPort: z.int().min(0).max(65_535).default(8443).meta({
    live: true,
    title: 'HTTPS port',
    description: 'Where all shared services answer by their names. 0: any free one.',
  }),
  httpPort: z.int().min(0).max(65_535).default(8080).meta({
    live: true,
    title: 'HTTP port',
    description:
      'Shows the page from which devices get the certificate, and leads everything else to HTTPS. 0: any free one.',
  }),
  announce: z.boolean().default(true).meta({
    live: true,
    title: 'Announce the names',
    description: 'Tells the devices of the network where NAME.local is, so that they find it by its name.',
  }),
  mdnsPort: z.int().min(1).max(65_535).default(5353).meta({
    live: true,
    title: 'Port of multicast DNS',
    description: 'Every device asks on 5353; another one is of use for tests alone.',
  }),
  proxySignIn: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Believe the sign-in of a proxy',
      description:
        'Whom a trusted proxy (a setting of the host) names in the header Remote-User is signed in as the ' +
        'account of that name, without a password.',
    }),
  ownPorts: z.boolean().default(true).meta({
    live: true,
    title: "Services' own ports",
    description:
      'Each shared service also answers, encrypted, at its own port of the network address: for TVs and apps that cannot use names.',
  }),
  addresses: z
    .array(z.union([z.ipv4(), z.ipv6()], 'Use an address of this machine.'))
    .max(20)
    .default([])
    .meta({
      live: true,
      title: 'Addresses',
      description: 'The addresses of this machine that it listens on. None: all that lie in the networks below.',
    }),
  networks: z.array(network).max(100).default(privateNetworks).meta({
    live: true,
    title: 'Networks',
    description:
      'Machines of these are let in, all others get no answer. At first all networks of homes and companies, none of the internet.',
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
        'Ports of services that speak something else than HTTP: mail, git.ssh. Machines of the networks ' +
        'reach them on this machine at the same port; the service itself asks for credentials where it ' +
        'needs any.',
    }),
  portNetworks: z.array(network).max(100).default([]).meta({
    live: true,
    title: 'Networks of shared ports',
    description: 'Whose machines alone reach the shared ports, such as that of a NAS. None: all that are let in.',
  }),
  certFile: file.meta({
    live: true,
    title: 'Own certificate',
    description:
      'A file with a certificate and its chain in PEM, used in place of those that Homeport makes. It is read again when it changes.',
  }),
  keyFile: file.meta({ live: true, title: 'Key of the own certificate', description: 'The file with its key in PEM.' }),
  outside: z
    .array(z.string().max(300).regex(upstreamPattern, 'Use NAME=ADDRESS, such as photos=http://192.168.1.5:2342.'))
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Other web services',
      description:
        'NAME=ADDRESS of what other machines or programs of your home serve. Shared by their names as ' +
        'services are, they answer as NAME.HOST.local, behind the same sign-in. Use h2c://HOST:PORT for a ' +
        'service that speaks HTTP/2 without TLS, such as gRPC.',
    }),
  outsideUnverified: z.array(serviceId).max(50).default([]).meta({
    live: true,
    title: 'Other web services with any certificate',
    description: 'Names of those whose https address may show a certificate that nobody vouches for.',
  }),
  outsideHosts: z
    .array(z.string().max(300).regex(upstreamHostPattern, 'Use NAME=HOST, such as torrents=127.0.0.1:8080.'))
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Host names of other web services',
      description:
        'NAME=HOST: the Host header that a web service expects, for services that refuse other names. ' +
        'Without an entry it gets the name that the browser uses.',
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
        'NAME=PATH: paths of a shared service that everyone on the network may use without a sign-in, such ' +
        'as links for guests and webhooks. A path that ends in / or * includes everything below it.',
    }),
  strictTransport: z
    .boolean()
    .default(false)
    .meta({
      live: true,
      title: 'Always use HTTPS',
      description:
        'Browsers remember for a year to open the names of this computer only with HTTPS ' +
        '(Strict-Transport-Security). Enable it only when every device trusts the certificate: browsers ' +
        'then no longer offer to continue without.',
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
