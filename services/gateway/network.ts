import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import type { SuggestedAction } from '../contracts/health.ts';
import type { DispatchContext, DispatchTarget } from '../contracts/dispatch.ts';
import {
  gatewayChanged,
  type Exposure,
  type GatewayState,
  type SelfTest,
  type SharedService,
} from '../contracts/gateway/api.ts';
import { Certificates } from './certificates/certificates.ts';
import { certificateState } from './certificates/state.ts';
import { CurrentCertificate } from './certificates/current-certificate.ts';
import { baseName, hostLabel, inUrl, plainAddress, serviceName } from './domain/names.ts';
import { addressForClient } from './domain/address-for-client.ts';
import { NetworkListeners } from './listeners/listener-manager.ts';
import { OwnAddresses } from './listeners/interface-addresses.ts';
import { GatewayMetrics } from './proxy/metrics.ts';
import { Front } from './proxy/reverse-proxy.ts';
import { TakenNames } from './proxy/reserved-names.ts';
import { Provider } from './oidc/provider.ts';
import { Upstreams } from './external-services/upstreams.ts';
import { announcing } from './mdns/announcement.ts';
import { Responder } from './mdns/responder.ts';
import { selfTest } from './self-test/self-test.ts';
import { SignedIn } from './sign-in/signed-in-account.ts';
import { SharedPorts } from './ports/shared-ports.ts';
import { Visitors } from './listeners/client-addresses.ts';
import { wantedDoors } from './listeners/listener-plan.ts';
import { providerState } from './oidc/state.ts';
import type { Settings } from './settings.ts';
import { sharedServices } from './shared-services.ts';
import { SessionCookie } from './sign-in/cookie.ts';
import { Gate } from './sign-in/gate.ts';
import { plainDoor } from './trust/http-redirect.ts';

/** Coordinates shared services, their listeners and the certificate. */
export class Network implements AsyncDisposable {
  readonly #context: DispatchContext;
  readonly #settings: Readonly<Settings>;
  readonly #label: string;
  readonly #addresses: OwnAddresses;
  readonly #certificate: CurrentCertificate;
  readonly #doors: NetworkListeners;
  readonly #front: Front;
  readonly #ports: SharedPorts;
  readonly #responder: Responder;
  readonly #visitors: Visitors;
  readonly #upstreams: Upstreams;
  readonly #provider: Provider;
  readonly #names: TakenNames;
  readonly #addressing: Disposable;
  readonly signedIn: SignedIn;
  #notifyPages = '';
  #turn: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(context: DispatchContext, settings: Readonly<Settings>) {
    this.#context = context;
    this.#settings = settings;
    this.#label = settings.name === '' ? hostLabel(hostname()) : settings.name;
    this.#addresses = new OwnAddresses(settings);
    this.#names = new TakenNames(context.hosts);
    this.#certificate = new CurrentCertificate({
      certificates: new Certificates(context),
      clock: context.clock,
      files: () => settings,
      replaced: (certificate) => this.#doors.replaceCertificate(certificate),
    });
    this.signedIn = new SignedIn(context);
    this.#visitors = new Visitors(context.clock);
    const cookie = new SessionCookie(context);
    const gate = new Gate({
      context,
      cookie,
      signedIn: this.signedIn,
      believesProxies: () => settings.proxySignIn,
    });
    const metrics = new GatewayMetrics({
      metrics: context.metrics,
      open: () => this.#front.open,
      connections: () => this.#ports.open,
      certificateExpiry: () => (this.#certificate.presented?.expiresAt ?? 0) / 1000,
    });
    const accepts = (address: string): boolean => this.#addresses.accepts(address);
    this.#ports = new SharedPorts({ context, settings, metrics, accepts });
    const exposure = (id: string): Exposure => this.exposure(id);
    this.#upstreams = new Upstreams({
      ...{ context, settings },
      refuse: (request, response, problem) => this.#front.refuse(request, response, problem),
    });
    this.#provider = new Provider(context, settings);
    this.#front = new Front({
      context,
      targets: () => this.#targets(),
      upstreams: this.#upstreams,
      gate,
      cookie,
      signedIn: this.signedIn,
      provider: this.#provider,
      metrics,
      label: this.#label,
      exposure,
      publicPaths: () => settings.publicPaths,
      isStrict: () => settings.strictTransport,
      addressFor: (id, request) => this.#addressFor(id, request),
      accepts,
    });
    this.#responder = new Responder({
      ...{ clock: context.clock, log: context.log, accepts, port: () => settings.mdnsPort },
      changed: () => this.#tell(),
    });
    this.#addressing = context.shareAddresses({
      forRequest: (id, request) => this.#addressFor(id, request),
      forDevices: (id) => this.#services().find((service) => service.id === id)?.addresses[0]?.url,
    });
    const plain = plainDoor({
      log: context.log,
      httpsPortOf: (address) => this.#doors.port('https', address),
      authority: () => this.#certificate.authority(),
    });
    this.#doors = new NetworkListeners({
      listen: context.listen,
      log: context.log,
      accepts: (address, { kind, service = '' }) => {
        const isLetIn = kind === 'tcp' ? this.#ports.accepts(address) : accepts(address);
        // Connections of this computer prove nothing.
        const port = kind === 'tcp' ? service : null;
        if (!this.#addresses.isOwn(address)) this.#visitors.note({ address, port, letIn: isLetIn });
        if (kind === 'tcp' && !isLetIn) this.#ports.refused(service);
        return isLetIn;
      },
      handler: ({ kind, service }) => {
        if (kind === 'tcp') return this.#ports.handler(service ?? '');
        return kind === 'http' ? { http: plain } : this.#front.handler(service);
      },
    });
  }

  /** Services that can be shared: those of Homeport and external services. */
  #targets(): readonly DispatchTarget[] {
    return [...this.#context.targets(), ...this.#upstreams.targets()];
  }

  #shared(): readonly DispatchTarget[] {
    return this.#targets().filter(({ id }) => this.exposure(id) !== 'off');
  }

  /** All accepted host names. */
  get #hostNames(): readonly string[] {
    const services = this.#targets().flatMap(({ id, hosts }) => [serviceName(id, this.#label), ...hosts]);
    return [baseName(this.#label), hostLabel(hostname()), ...services];
  }

  /** IDs of services that are shared. */
  get shared(): readonly string[] {
    const ports = this.#ports.shared.map(({ service }) => service);
    return [...new Set([...this.#shared().map(({ id }) => id), ...ports])];
  }

  get problems(): readonly string[] {
    const none =
      this.shared.length > 0 && this.#addresses.list().length === 0
        ? ['This machine has no address on a private network at the moment.']
        : [];
    return [
      ...none,
      ...this.#doors.problems,
      ...this.#certificate.problems,
      ...this.#upstreams.problems,
      ...this.#responder.problems,
    ];
  }

  /** Action that fixes a problem, if any. */
  get remedy(): SuggestedAction | undefined {
    return this.#certificate.remedy;
  }

  exposure(id: string): Exposure {
    if (this.#settings.open.includes(id)) return 'open';
    return this.#settings.shared.includes(id) ? 'sign-in' : 'off';
  }

  /** Updates listeners and the certificate to the current settings, addresses and services. */
  renew(): Promise<void> {
    const next = this.#turn.then(() => this.#renew());
    this.#turn = next.catch((error: unknown) => this.#context.log.error('network update failed', { error }));
    return this.#turn;
  }

  /** Ends exchanges of accounts without access. */
  review(): void {
    this.#front.review();
    this.#ports.review();
  }

  async #renew(): Promise<void> {
    if (this.#closed) return;
    this.#upstreams.renew();
    this.#names.become(this.#hostNames);
    this.review();
    await this.#addresses.look();
    const all = this.shared.length === 0 ? [] : this.#addresses.list();
    // TCP ports need neither names nor a certificate.
    const addresses = this.#shared().length === 0 ? [] : all;
    if (addresses.length > 0) {
      const base = baseName(this.#label);
      const own = this.#context.targets().flatMap(({ id, hosts }) => (this.exposure(id) === 'off' ? [] : hosts));
      const names = new Set([base, `*.${base}`, hostLabel(hostname()), 'localhost', ...addresses, ...own]);
      await this.#certificate.renew(`Homeport ${base}`, [...names]);
    }
    const certificate = this.#certificate.presented;
    const ofHouse = this.#shared().filter(({ id }) => !this.#upstreams.has(id));
    const forPages = certificate === undefined ? [] : wantedDoors(addresses, this.#settings, ofHouse);
    await this.#doors.become([...forPages, ...this.#ports.doors(all)], certificate);
    const port = addresses.map((address) => this.#doors.port('https', address)).find((each) => each !== undefined);
    const isAnnounced = this.#settings.announce && port !== undefined;
    await this.#responder.become(
      isAnnounced ? announcing(this.#shared(), { label: this.#label, addresses, port }) : undefined,
    );
    this.#tell();
  }

  /** Notifies the pages of changes. */
  #tell(): void {
    const now = JSON.stringify([
      this.#services(),
      this.#ports.list(this.#addresses.list(), this.#doors),
      this.#settings.portNetworks,
      this.problems,
      this.#certificate.presented?.expiresAt,
      this.#responder.names,
    ]);
    if (now === this.#notifyPages) return;
    this.#notifyPages = now;
    this.#context.bus.publish(gatewayChanged, {});
  }

  #services(): SharedService[] {
    return sharedServices(this.#targets(), {
      ...{ label: this.#label, address: this.#addresses.list()[0], doors: this.#doors },
      exposure: (id) => this.exposure(id),
      outside: (id) => this.#upstreams.list().find((each) => each.id === id)?.url ?? null,
    });
  }

  #addressFor(id: string, request: IncomingMessage): string | undefined {
    const client = URL.parse(this.#context.publicUrl(request) ?? '');
    if (client === null || this.exposure(id) === 'off') return undefined;
    const address = plainAddress(request.socket.localAddress);
    return addressForClient(id, {
      ...{ client, label: this.#label, machine: hostname(), arrivedAt: request.socket.localPort },
      https: this.#doors.port('https', address),
      own: this.#doors.port('own', address, id),
      names: this.#context.targets().flatMap(({ hosts }) => hosts),
    });
  }

  async state(): Promise<GatewayState> {
    const addresses = this.#addresses.list();
    const [address] = addresses;
    const plain = address === undefined ? undefined : this.#doors.port('http', address);
    const { presented: shown } = this.#certificate;
    const authority = await this.#certificate.authority();
    return {
      host: baseName(this.#label),
      announced: [...this.#responder.names],
      lanAddresses: [...addresses],
      services: this.#services(),
      ports: this.#ports.list(addresses, this.#doors),
      portNetworks: [...this.#settings.portNetworks],
      trustUrl:
        address === undefined || plain === undefined || authority === undefined
          ? null
          : `http://${inUrl(address)}:${String(plain)}/trust`,
      certificate: certificateState(shown, authority?.fingerprint256),
      provider: providerState(this.#provider, this.#services(), this.#home(addresses)),
      problems: [...this.problems],
    };
  }

  /** Returns the base address of this computer by name; undefined while nothing is shared. */
  #home([address]: readonly string[]): string | undefined {
    const port = address === undefined ? undefined : this.#doors.port('https', address);
    return port === undefined ? undefined : `https://${baseName(this.#label)}:${String(port)}`;
  }

  /** Runs the self-test as a device of the network. */
  async test(): Promise<SelfTest> {
    await this.renew();
    const addresses = this.shared.length === 0 ? [] : this.#addresses.list();
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
      ports: this.#ports.list(addresses, this.#doors).filter(({ shared }) => shared),
      announces: this.#settings.announce,
      announced: this.#responder.names,
      visitors: this.#visitors.list(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#addressing[Symbol.dispose]();
    this.#ports.close();
    await this.#turn;
    this.#names[Symbol.dispose]();
    this.#upstreams[Symbol.dispose]();
    await this.#responder[Symbol.asyncDispose]();
  }
}
