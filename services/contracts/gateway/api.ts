import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';

/** Published when the shared services, their addresses or their errors changed; pages reload what they show. */
export const gatewayChanged = defineTopic('gateway.changed', z.object({}));

/** Access from other computers: none, after a sign-in, or for the whole network. */
export const Exposure = z.enum(['off', 'sign-in', 'open']);
export type Exposure = z.infer<typeof Exposure>;

const SharedService = z
  .object({
    id: z.string(),
    title: z.string(),
    summary: z.string(),
    exposure: Exposure,
    /** The service authenticates clients itself, so the gateway does not. */
    authenticates: z.boolean(),
    running: z.boolean(),
    /** Address of an external service, as the owner entered it. */
    outside: z.string().nullable(),
    /** Addresses for other computers, best first; empty while the service is not shared. */
    addresses: z.array(z.object({ by: z.enum(['domain', 'name', 'port']), url: z.string() })),
  })
  .meta({ id: 'SharedService' });
export type SharedService = z.infer<typeof SharedService>;

const SharedPort = z
  .object({
    /** Id such as `mail` or `git.ssh`. */
    id: z.string(),
    /** Id of the service that answers at the port. */
    service: z.string(),
    title: z.string(),
    /** Consequence of sharing the port; empty when the service does not define it. */
    meaning: z.string(),
    shared: z.boolean(),
    running: z.boolean(),
    /** Addresses for the computers of the allowed networks: `smtp://192.168.1.20:8025`. */
    addresses: z.array(z.string()),
  })
  .meta({ id: 'SharedPort' });
export type SharedPort = z.infer<typeof SharedPort>;

const GatewayState = z
  .object({
    /** Host name `NAME.local`. */
    host: z.string(),
    /** Names that are announced over multicast DNS. */
    announced: z.array(z.string()),
    /** Addresses of this computer on the network. */
    lanAddresses: z.array(z.string()),
    services: z.array(SharedService),
    /** Ports of services for protocols other than HTTP. */
    ports: z.array(SharedPort),
    /** Networks that may reach these ports; empty for all allowed networks. */
    portNetworks: z.array(z.string()),
    /** Address at which a device downloads the certificate; null while nothing is shared. */
    trustUrl: z.string().nullable(),
    certificate: z
      .object({
        /** `own`: from files of the owner. */
        source: z.enum(['local', 'own']),
        /**
         * SHA-256 fingerprint of the authority's certificate, as systems show it; empty for the owner's certificate.
         */
        fingerprint: z.string(),
        names: z.array(z.string()),
        expiresAt: z.number(),
      })
      .nullable(),
    /** OpenID provider for the sign-in; null when none is configured. */
    provider: z
      .object({
        name: z.string(),
        /** Redirect addresses that must be registered at the provider. */
        redirectAddresses: z.array(z.string()),
      })
      .nullable(),
    /** Errors, one sentence each. */
    problems: z.array(z.string()),
  })
  .meta({ id: 'GatewayState' });
export type GatewayState = z.infer<typeof GatewayState>;

const SignedInDevice = z
  .object({
    id: z.string(),
    account: z.string(),
    /** Host and port of the sign-in. */
    host: z.string(),
    address: z.string(),
    userAgent: z.string(),
    signedInAt: z.number(),
    /** Time of the last request, known since the start of the service. */
    seenAt: z.number(),
  })
  .meta({ id: 'SignedInDevice' });
export type SignedInDevice = z.infer<typeof SignedInDevice>;

/** Other computer that connected. `letIn`: its network is among the allowed networks. */
const Visitor = z.object({
  address: z.string(),
  /** Port for a protocol other than HTTP, such as `mail`; null for the HTTP port. */
  port: z.string().nullable(),
  letIn: z.boolean(),
  seenAt: z.number(),
});
export type Visitor = z.infer<typeof Visitor>;

const SelfTest = z
  .object({
    /** Sentence for each performed check. */
    checks: z.array(
      z.object({
        ok: z.boolean(),
        /**
         * The result may be intended by the owner even though a device cannot use it; with `ok`, no error was found
         * but success could not be confirmed.
         */
        maybeMeant: z.boolean().optional(),
        text: z.string(),
      }),
    ),
    /** Computers that connected since the start, newest first. */
    visitors: z.array(Visitor),
  })
  .meta({ id: 'GatewaySelfTest' });
export type SelfTest = z.infer<typeof SelfTest>;

/** Routes about sharing; answered by the gateway. */
export const gatewayApi = {
  state: defineRoute({
    method: 'GET',
    path: '/api/gateway',
    summary: 'Returns the services that are shared on the home network, with their addresses.',
    access: 'admin',
    reply: GatewayState,
  }),
  addresses: defineRoute({
    method: 'GET',
    path: '/api/gateway/addresses',
    summary: 'Lists the addresses at which other devices can reach the shared services.',
    access: 'user',
    reply: z.object({
      /** Same as in the state. */
      trustUrl: z.string().nullable(),
      /** Shared services that answer, with their best address. */
      services: z.array(
        z.object({
          id: z.string(),
          url: z.string(),
          /** The gateway requires a sign-in before it passes requests to the service. */
          asksFirst: z.boolean(),
        }),
      ),
      /** Shared ports for protocols other than HTTP, such as `mail` and `git.ssh`. */
      ports: z.array(z.object({ id: z.string(), url: z.string() })),
    }),
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/gateway/test',
    summary: 'Tests each shared address as a device on the network would, and returns the results as text.',
    access: 'admin',
    reply: SelfTest,
  }),
  signedIn: defineRoute({
    method: 'GET',
    path: '/api/gateway/sessions',
    summary: 'Lists the browsers that are signed in to shared services, most recent first.',
    access: 'admin',
    reply: z.object({ sessions: z.array(SignedInDevice) }),
  }),
  signOut: defineRoute({
    method: 'DELETE',
    path: '/api/gateway/sessions/:id',
    summary: 'Signs a browser out, and closes its open connections.',
    access: 'admin',
    reply: z.object({}),
  }),
};
