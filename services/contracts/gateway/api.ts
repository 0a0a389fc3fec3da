import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';

/** What is shared, where it answers or what is wrong with it has changed; pages that show it read it anew. */
export const gatewayChanged = defineTopic('gateway.changed', z.object({}));

/** Who may use a service from another machine: nobody, who signs in, or everybody on the network. */
export const Exposure = z.enum(['off', 'sign-in', 'open']);
export type Exposure = z.infer<typeof Exposure>;

const SharedService = z
  .object({
    id: z.string(),
    title: z.string(),
    summary: z.string(),
    exposure: Exposure,
    /** It asks for credentials itself, so that the gateway puts no sign-in in front. */
    authenticates: z.boolean(),
    running: z.boolean(),
    /** Of what is no service of Homeport: the address that the owner typed. */
    outside: z.string().nullable(),
    /** Where other machines reach it, the best one first; none while it is off. */
    addresses: z.array(z.object({ by: z.enum(['name', 'port']), url: z.string() })),
  })
  .meta({ id: 'SharedService' });
export type SharedService = z.infer<typeof SharedService>;

const SharedPort = z
  .object({
    /** `mail`, `git.ssh` */
    id: z.string(),
    /** The service that answers there. */
    service: z.string(),
    title: z.string(),
    /** What it means when it is shared; empty where its service says nothing. */
    meaning: z.string(),
    shared: z.boolean(),
    running: z.boolean(),
    /** Where machines of its networks reach it: `smtp://192.168.1.20:8025`. */
    addresses: z.array(z.string()),
  })
  .meta({ id: 'SharedPort' });
export type SharedPort = z.infer<typeof SharedPort>;

const GatewayState = z
  .object({
    /** `NAME.local` */
    host: z.string(),
    /** Names that devices of the network find by multicast DNS. */
    announced: z.array(z.string()),
    /** Addresses of this machine on the network. */
    lanAddresses: z.array(z.string()),
    services: z.array(SharedService),
    /** Ports of services that speak something else than HTTP. */
    ports: z.array(SharedPort),
    /** Whose machines alone reach these ports; none: all that are let in. */
    portNetworks: z.array(z.string()),
    /** Where a device gets the certificate; null while nothing is shared. */
    trustUrl: z.string().nullable(),
    certificate: z
      .object({
        /** `own`: from files of the owner. */
        source: z.enum(['local', 'own']),
        /** SHA-256 of the authority's certificate, as systems show it; empty for an own one. */
        fingerprint: z.string(),
        names: z.array(z.string()),
        expiresAt: z.number(),
      })
      .nullable(),
    /** The OpenID provider of the sign-in; null while none is set up. */
    provider: z
      .object({
        name: z.string(),
        /** Where it may send browsers back to, as it has to know. */
        redirectAddresses: z.array(z.string()),
      })
      .nullable(),
    /** What does not work, a sentence each. */
    problems: z.array(z.string()),
  })
  .meta({ id: 'GatewayState' });
export type GatewayState = z.infer<typeof GatewayState>;

const SignedInDevice = z
  .object({
    id: z.string(),
    account: z.string(),
    /** The name and port at which it signed in. */
    host: z.string(),
    address: z.string(),
    userAgent: z.string(),
    signedInAt: z.number(),
    /** As far as is known since the start. */
    seenAt: z.number(),
  })
  .meta({ id: 'SignedInDevice' });
export type SignedInDevice = z.infer<typeof SignedInDevice>;

/** Another machine that has connected. `letIn`: its network is among those that may. */
const Visitor = z.object({
  address: z.string(),
  /** The port that speaks no HTTP to which it came, such as `mail`; null: where pages are. */
  port: z.string().nullable(),
  letIn: z.boolean(),
  seenAt: z.number(),
});
export type Visitor = z.infer<typeof Visitor>;

const SelfTest = z
  .object({
    /** A sentence on each thing that was tried. */
    checks: z.array(
      z.object({
        ok: z.boolean(),
        /** It is not as a device wishes, and may yet be as the owner does; of what is `ok`: nothing is wrong, and nothing is shown to work. */
        maybeMeant: z.boolean().optional(),
        text: z.string(),
      }),
    ),
    /** Machines that have connected since the start, the latest first. */
    visitors: z.array(Visitor),
  })
  .meta({ id: 'GatewaySelfTest' });
export type SelfTest = z.infer<typeof SelfTest>;

/** Our own API around sharing; the gateway answers it. */
export const gatewayApi = {
  state: defineRoute({
    method: 'GET',
    path: '/api/gateway',
    summary: 'What is shared with the home network, and where it answers.',
    access: 'admin',
    reply: GatewayState,
  }),
  addresses: defineRoute({
    method: 'GET',
    path: '/api/gateway/addresses',
    summary: 'Where other devices reach what is shared.',
    access: 'user',
    reply: z.object({
      /** As of the state. */
      trustUrl: z.string().nullable(),
      /** What is shared and answers, with its best address. */
      services: z.array(
        z.object({
          id: z.string(),
          url: z.string(),
          /** The gateway asks for name and password before anything reaches the service. */
          asksFirst: z.boolean(),
        }),
      ),
      /** Shared ports that speak something else than HTTP, such as `mail` and `git.ssh`. */
      ports: z.array(z.object({ id: z.string(), url: z.string() })),
    }),
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/gateway/test',
    summary: 'Asks what is shared as a device of the network would, and says in words what it finds.',
    access: 'admin',
    reply: SelfTest,
  }),
  signedIn: defineRoute({
    method: 'GET',
    path: '/api/gateway/sessions',
    summary: 'The browsers that are signed in to what is shared, the latest first.',
    access: 'admin',
    reply: z.object({ sessions: z.array(SignedInDevice) }),
  }),
  signOut: defineRoute({
    method: 'DELETE',
    path: '/api/gateway/sessions/:id',
    summary: 'Signs a browser out; what it has open ends.',
    access: 'admin',
    reply: z.object({}),
  }),
};
