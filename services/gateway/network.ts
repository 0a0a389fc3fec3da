import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import type { DispatchContext } from '../contracts/dispatch.ts';
import {
  gatewayChanged,
  type Exposure,
  type GatewayState,
  type SelfTest,
  type SharedService,
} from '../contracts/gateway/api.ts';
import { Problem } from '../contracts/problem.ts';
import { Certificates } from './certificates/certificates.ts';
import { CurrentCertificate } from './certificates/current.ts';
import { baseName, hostLabel, inUrl, serviceName } from './domain/names.ts';
import { inNetworks, lanAddresses } from './doors/addresses.ts';
import { Doors, type Door } from './doors/doors.ts';
import { send } from './front/answer.ts';
import { GatewayMetrics } from './front/metrics.ts';
import { Front } from './front/front.ts';
import { Responder, type Announcing } from './mdns/responder.ts';
import { selfTest } from './self-test/self-test.ts';
import { SecondFactors } from './second-factor/second-factors.ts';
import { SignedIn } from './sign-in/signed-in.ts';
import { Visitors } from './doors/visitors.ts';
import type { Settings } from './settings.ts';
import { SessionCookie } from './sign-in/cookie.ts';
import { Gate } from './sign-in/gate.ts';
import { answerPlain } from './trust/routes.ts';

/** What is shared, the doors that are open for it, and the certificate they show. */
export class Network implements AsyncDisposable {
  readonly #context: DispatchContext;
  readonly #settings: Readonly<Settings>;
  readonly #label: string;
  #accepts: (address: string) => boolean;
  #acceptsFor: readonly string[];
  readonly #certificate: CurrentCertificate;
  readonly #doors: Doors;
  readonly #front: Front;
  readonly #responder: Responder;
  readonly #visitors: Visitors;
  readonly signedIn: SignedIn;
  readonly factors: SecondFactors;
  #told = '';
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(context: DispatchContext, settings: Readonly<Settings>) {
    this.#context = context;
    this.#settings = settings;
    this.#label = settings.name === '' ? hostLabel(hostname()) : settings.name;
    this.#acceptsFor = settings.networks;
    this.#accepts = inNetworks(settings.networks);
    this.#certificate = new CurrentCertificate({
      certificates: new Certificates(context),
      clock: context.clock,
      files: () => settings,
      replaced: (certificate) => this.#doors.replaceCertificate(certificate),
    });
    this.signedIn = new SignedIn(context);
    this.factors = new SecondFactors(context);
    this.#visitors = new Visitors(context.clock);
    const cookie = new SessionCookie(context);
    const gate = new Gate({
      context,
      cookie,
      signedIn: this.signedIn,
      factors: this.factors,
      believesProxies: () => settings.proxySignIn,
    });
    const metrics = new GatewayMetrics({
      metrics: context.metrics,
      open: () => this.#front.open,
      certificateExpiry: () => (this.#certificate.shown?.expiresAt ?? 0) / 1000,
    });
    const accepts = (address: string): boolean => this.#accepts(address);
    const exposure = (id: string): Exposure => this.exposure(id);
    this.#front = new Front({
      context,
      gate,
      cookie,
      signedIn: this.signedIn,
      factors: this.factors,
      metrics,
      label: this.#label,
      exposure,
      accepts,
    });
    this.#responder = new Responder({
      ...{ clock: context.clock, log: context.log, accepts, port: () => settings.mdnsPort },
      changed: () => this.#tell(),
    });
    this.#doors = new Doors({
      listen: context.listen,
      log: context.log,
      accepts: (address) => {
        const isLetIn = accepts(address);
        this.#visitors.note(address, isLetIn);
        return isLetIn;
      },
      handler: (door) => (door.kind === 'http' ? { http: this.#plain } : this.#front.handler(door.service)),
    });
  }

  /** Every name that a request may have. */
  get hostNames(): readonly string[] {
    const services = this.#context.targets().flatMap(({ id, hosts }) => [serviceName(id, this.#label), ...hosts]);
    return [baseName(this.#label), hostLabel(hostname()), ...services];
  }

  /** The ids of what is shared and exists. */
  get shared(): readonly string[] {
    return this.#context
      .targets()
      .map(({ id }) => id)
      .filter((id) => this.exposure(id) !== 'off');
  }

  get problems(): readonly string[] {
    const none =
      this.shared.length > 0 && this.#addresses().length === 0
        ? ['This machine has no address on a private network at the moment.']
        : [];
    return [...none, ...this.#doors.problems, ...this.#certificate.problems, ...this.#responder.problems];
  }

  exposure(id: string): Exposure {
    if (this.#settings.open.includes(id)) return 'open';
    return this.#settings.shared.includes(id) ? 'sign-in' : 'off';
  }

  /** Opens and closes doors and renews the certificate as settings, addresses and services are now. */
  renew(): Promise<void> {
    const next = this.#turn.then(() => this.#renew());
    this.#turn = next.catch((error: unknown) => this.#context.log.error('the network could not be renewed', { error }));
    return this.#turn;
  }

  /** Ends what runs for those who have lost their account, their session or their grant. */
  review(): void {
    this.#front.review();
  }

  async #renew(): Promise<void> {
    if (this.#closed) return;
    const { networks } = this.#settings;
    if (networks !== this.#acceptsFor) [this.#acceptsFor, this.#accepts] = [networks, inNetworks(networks)];
    this.#front.review();
    const addresses = this.shared.length === 0 ? [] : this.#addresses();
    if (addresses.length > 0) {
      const base = baseName(this.#label);
      const own = this.#context.targets().flatMap(({ id, hosts }) => (this.exposure(id) === 'off' ? [] : hosts));
      const names = new Set([base, `*.${base}`, hostLabel(hostname()), 'localhost', ...addresses, ...own]);
      await this.#certificate.renew(`Homeport ${base}`, [...names]);
    }
    const certificate = this.#certificate.shown;
    await this.#doors.become(certificate === undefined ? [] : this.#wanted(addresses), certificate);
    await this.#responder.become(this.#announcing(addresses));
    this.#tell();
  }

  /** Pages look again where something has changed for them. */
  #tell(): void {
    const now = JSON.stringify([
      this.#services(),
      this.problems,
      this.#certificate.shown?.expiresAt,
      this.#responder.names,
    ]);
    if (now === this.#told) return;
    this.#told = now;
    this.#context.bus.publish(gatewayChanged, {});
  }

  #announcing(addresses: readonly string[]): Announcing | undefined {
    const port = addresses.map((address) => this.#doors.port('https', address)).find((each) => each !== undefined);
    if (!this.#settings.announce || port === undefined) return undefined;
    const shared = this.#context.targets().filter(({ id }) => this.exposure(id) !== 'off');
    const hosts = shared.map(({ id, title }) => ({
      title: `${title} on ${this.#label}`,
      host: serviceName(id, this.#label),
      port,
    }));
    return { addresses, names: [baseName(this.#label), ...hosts.map(({ host }) => host)], services: hosts };
  }

  #addresses(): readonly string[] {
    const { addresses } = this.#settings;
    return addresses.length > 0 ? addresses : lanAddresses(this.#accepts);
  }

  #wanted(addresses: readonly string[]): Door[] {
    const { httpsPort, httpPort, ownPorts } = this.#settings;
    const shared = this.#context.targets().filter(({ id }) => this.exposure(id) !== 'off');
    return addresses.flatMap((address): Door[] => [
      { kind: 'https', address, port: httpsPort },
      { kind: 'http', address, port: httpPort },
      ...(ownPorts
        ? shared.flatMap(({ id, port }): Door[] =>
            port === undefined || port === httpsPort ? [] : [{ kind: 'own', address, port, service: id }],
          )
        : []),
    ]);
  }

  readonly #plain = (request: IncomingMessage, response: Parameters<typeof answerPlain>[1]): void => {
    const httpsPort = ({ socket }: IncomingMessage): number | undefined =>
      this.#doors.port('https', (socket.localAddress ?? '').replace(/^::ffff:/, ''));
    answerPlain(request, response, { httpsPort, authority: () => this.#certificate.authority() }).catch(
      (error: unknown) => {
        if (!(error instanceof Problem)) this.#context.log.error('request failed', { error });
        const [status, detail] =
          error instanceof Problem ? [error.status, error.detail] : [500, 'Something went wrong.'];
        if (response.headersSent) response.destroy();
        else send(request, response, { status, type: 'text/plain; charset=utf-8', body: `${detail}\n` });
      },
    );
  };

  #services(): SharedService[] {
    const [address] = this.#addresses();
    return this.#context.targets().map(({ id, title, summary, port, authenticates }) => {
      const exposure = this.exposure(id);
      const https = address === undefined ? undefined : this.#doors.port('https', address);
      const own = address === undefined ? undefined : this.#doors.port('own', address, id);
      const isOpen = exposure !== 'off' && address !== undefined;
      return {
        ...{ id, title, summary, exposure, authenticates, running: port !== undefined },
        addresses: [
          // Not every device asks for names, but each finds an address.
          ...(isOpen && own !== undefined
            ? [{ by: 'port' as const, url: `https://${inUrl(address)}:${String(own)}` }]
            : []),
          ...(isOpen && https !== undefined
            ? [{ by: 'name' as const, url: `https://${serviceName(id, this.#label)}:${String(https)}` }]
            : []),
        ],
      };
    });
  }

  async state(): Promise<GatewayState> {
    const addresses = this.#addresses();
    const [address] = addresses;
    const plain = address === undefined ? undefined : this.#doors.port('http', address);
    const { shown } = this.#certificate;
    const authority = await this.#certificate.authority();
    return {
      host: baseName(this.#label),
      announced: [...this.#responder.names],
      lanAddresses: [...addresses],
      services: this.#services(),
      trustUrl:
        address === undefined || plain === undefined || authority === undefined
          ? null
          : `http://${inUrl(address)}:${String(plain)}/trust`,
      certificate:
        shown === undefined
          ? null
          : {
              ...{ source: shown.source, names: [...shown.names], expiresAt: shown.expiresAt },
              fingerprint: authority?.fingerprint256 ?? '',
            },
      problems: [...this.problems],
    };
  }

  /** Asks as a device of the network would. */
  async test(): Promise<SelfTest> {
    await this.renew();
    const addresses = this.shared.length === 0 ? [] : this.#addresses();
    const authority = await this.#certificate.authority();
    return selfTest({
      base: baseName(this.#label),
      authority: authority?.toString(),
      ways: addresses.map((address) => ({
        address,
        https: this.#doors.port('https', address),
        http: this.#doors.port('http', address),
      })),
      shared: this.#context
        .targets()
        .filter(({ id }) => this.exposure(id) !== 'off')
        .map(({ id, title, port }) => ({ title, host: serviceName(id, this.#label), running: port !== undefined })),
      announces: this.#settings.announce,
      announced: this.#responder.names,
      visitors: this.#visitors.list(addresses),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#turn;
    await this.#responder[Symbol.asyncDispose]();
  }
}
