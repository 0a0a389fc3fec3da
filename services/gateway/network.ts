import * as m from '#messages/gateway-problems';
import * as certificateTexts from '#messages/gateway-certificates';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import type { ServiceAction } from '../contracts/health.ts';
import type { DispatchContext, DispatchTarget, ListenerCertificate } from '../contracts/dispatch.ts';
import {
  gatewayChanged,
  type Exposure,
  type GatewayState,
  type SelfTest,
  type SharedService,
} from '../contracts/gateway/api.ts';
import { readText, type Text } from '../contracts/text.ts';
import { HttpChallenges } from './acme/http-challenges.ts';
import { formatFailure } from './acme/failure.ts';
import { PublicCertificates } from './acme/public-certificates.ts';
import { Certificates, type PresentedCertificate } from './certificates/certificates.ts';
import { toCertificateState } from './certificates/state.ts';
import { CurrentCertificate } from './certificates/current-certificate.ts';
import {
  getBaseName,
  listCertificateNames,
  toHostLabel,
  formatForUrl,
  stripMappedPrefix,
  getServiceName,
} from './domain/names.ts';
import { findAddressForClient } from './domain/address-for-client.ts';
import { ListenerManager, type NetworkListener } from './listeners/listener-manager.ts';
import { InterfaceAddresses } from './listeners/interface-addresses.ts';
import { GatewayMetrics } from './metrics.ts';
import { ReverseProxy } from './proxy/reverse-proxy.ts';
import { ReservedNames } from './proxy/reserved-names.ts';
import { Provider } from './oidc/provider.ts';
import { Upstreams } from './external-services/upstreams.ts';
import { buildAnnouncement } from './mdns/announcement.ts';
import { Responder } from './mdns/responder.ts';
import { runSelfTest } from './self-test/self-test.ts';
import { SignedInAccounts } from './sign-in/signed-in-account.ts';
import { SharedPorts } from './ports/shared-ports.ts';
import { ClientAddresses } from './listeners/client-addresses.ts';
import { planListeners } from './listeners/listener-plan.ts';
import { toProviderState } from './oidc/state.ts';
import type { Settings } from './settings.ts';
import { listSharedServices } from './shared-services.ts';
import { oneTimeLinkPath } from './sign-in/one-time-link-pages.ts';
import { SessionCookie } from './sign-in/cookie.ts';
import { Gate } from './sign-in/gate.ts';
import { createRedirectHandler } from './trust/http-redirect.ts';
import { currentPlatform } from '../kit/platform/current-platform.ts';
import { announcesHostName, hostNameFollowsNetwork } from '../kit/platform/host-name.ts';
import { runInEnglish } from '../kit/language.ts';
import { SerialQueue } from '../kit/serial-queue.ts';
import { getNetworkLabel } from './network-label.ts';

/** Coordinates shared services, their listeners and the certificate. */
export class Network implements AsyncDisposable {
  readonly #context: DispatchContext;
  readonly #settings: Readonly<Settings>;
  readonly #platform: NodeJS.Platform;
  readonly #label: string;
  readonly #addresses: InterfaceAddresses;
  readonly #certificate: CurrentCertificate;
  readonly #listeners: ListenerManager;
  readonly #proxy: ReverseProxy;
  readonly #ports: SharedPorts;
  readonly #responder: Responder;
  readonly #clientAddresses: ClientAddresses;
  readonly #upstreams: Upstreams;
  readonly #provider: Provider;
  readonly #reservedNames: ReservedNames;
  readonly #addressProvider: Disposable;
  readonly signedIn: SignedInAccounts;
  readonly publicCertificates: PublicCertificates;
  readonly #httpChallenges = new HttpChallenges();
  #publishedState = '';
  readonly #updates = new SerialQueue();
  #isClosed = false;
  /** Certificates that the open listeners present. */
  #presentedCertificates = '';

  constructor(context: DispatchContext, settings: Readonly<Settings>, platform: NodeJS.Platform = currentPlatform) {
    this.#context = context;
    this.#settings = settings;
    this.#platform = platform;
    this.#label = getNetworkLabel(context.files, { name: settings.name, hostname: hostname(), platform });
    this.#addresses = new InterfaceAddresses(settings);
    this.#reservedNames = new ReservedNames(context.hosts);
    this.#certificate = new CurrentCertificate({
      certificates: new Certificates(context),
      clock: context.clock,
      files: () => settings,
      onReplaced: () => this.#replaceCertificate(),
    });
    this.publicCertificates = new PublicCertificates({
      context,
      settings,
      httpChallenges: this.#httpChallenges,
      shared: () => this.#shared().map(({ id }) => id),
      addresses: () => this.#addresses.list(),
      onReplaced: () => this.#replaceCertificate(),
      onChanged: () => this.#notify(),
    });
    this.signedIn = new SignedInAccounts(context);
    this.#clientAddresses = new ClientAddresses(context.clock);
    const metrics = new GatewayMetrics({
      metrics: context.metrics,
      open: () => this.#proxy.open,
      connections: () => this.#ports.open,
      certificateExpiry: () => (this.#certificate.presented?.expiresAt ?? 0) / 1000,
      publicCertificateExpiry: () => (this.publicCertificates.current?.expiresAt ?? 0) / 1000,
    });
    const accepts = (address: string): boolean => this.#addresses.accepts(address);
    this.#ports = new SharedPorts({ context, settings, metrics, accepts });
    this.#upstreams = new Upstreams({
      context,
      settings,
      refuse: (request, response, problem) => this.#proxy.refuse(request, response, problem),
    });
    this.#provider = new Provider(context, settings);
    this.#proxy = this.#createProxy(metrics);
    this.#responder = new Responder({
      clock: context.clock,
      log: context.log,
      accepts,
      port: () => settings.mdnsPort,
      onChange: () => this.#notify(),
    });
    this.#addressProvider = context.shareAddresses({
      forRequest: (id, request) => this.#addressFor(id, request),
      forDevices: (id) => this.#services().find((service) => service.id === id)?.addresses[0]?.url,
      oneTimeLinkPage: () => this.#getOneTimeLinkPage(),
    });
    this.#listeners = this.#createListeners();
  }

  #createProxy(metrics: GatewayMetrics): ReverseProxy {
    const context = this.#context;
    const cookie = new SessionCookie(context);
    const gate = new Gate({
      context,
      cookie,
      signedIn: this.signedIn,
      trustsProxySignIn: () => this.#settings.proxySignIn,
    });
    return new ReverseProxy({
      context,
      routing: {
        targets: () => this.#targets(),
        upstreams: this.#upstreams,
        exposure: (id) => this.exposure(id),
        addressFor: (id, request) => this.#addressFor(id, request),
      },
      signIn: {
        gate,
        cookie,
        signedIn: this.signedIn,
        provider: this.#provider,
        label: this.#label,
        domain: () => this.#settings.acmeDomain,
      },
      metrics,
      policy: {
        publicPaths: () => this.#settings.publicPaths,
        isStrict: () => this.#settings.strictTransport,
        isAdmittedAddress: (address) => this.#addresses.accepts(address),
      },
    });
  }

  #createListeners(): ListenerManager {
    const { listen, log } = this.#context;
    const redirectHandler = createRedirectHandler({
      log,
      findHttpsPort: (address) => this.#listeners.port('https', address),
      authority: () => this.#certificate.authority(),
      httpChallenges: this.#httpChallenges,
      isAdmittedAddress: (address) => this.#addresses.accepts(address),
    });
    return new ListenerManager({
      listen,
      log,
      accepts: (address, listener) => this.#acceptsConnection(address, listener),
      handler: ({ kind, service }) => {
        if (kind === 'tcp') return this.#ports.handler(service ?? '');
        return kind === 'http' ? { http: redirectHandler } : this.#proxy.handler(service);
      },
    });
  }

  /** Decides about a connection, and records it for the list of visitors. */
  #acceptsConnection(address: string, { kind, service = '' }: NetworkListener): boolean {
    const isAdmitted = kind === 'tcp' ? this.#ports.accepts(address) : this.#addresses.accepts(address);
    // The authority validates the domain over the internet.
    if (kind === 'http' && !isAdmitted && this.#httpChallenges.isActive) return true;
    // Connections of this computer prove nothing.
    const port = kind === 'tcp' ? service : null;
    if (!this.#addresses.isOwn(address)) this.#clientAddresses.record({ address, port, letIn: isAdmitted });
    if (kind === 'tcp' && !isAdmitted) this.#ports.countRefused(service);
    return isAdmitted;
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
    const services = this.#targets().flatMap(({ id, hosts }) => [getServiceName(id, this.#label), ...hosts]);
    const { acmeDomain: domain } = this.#settings;
    const domainNames = domain === '' ? [] : [domain, ...this.#targets().map(({ id }) => `${id}.${domain}`)];
    return [getBaseName(this.#label), toHostLabel(hostname()), ...services, ...domainNames];
  }

  /** IDs of services that are shared. */
  get shared(): readonly string[] {
    const ports = this.#ports.shared.map(({ service }) => service);
    return [...new Set([...this.#shared().map(({ id }) => id), ...ports])];
  }

  get #problems(): readonly Text[] {
    const addressProblems = this.shared.length > 0 && this.#addresses.list().length === 0 ? [m.noAddress] : [];
    return [
      ...addressProblems,
      ...this.#findNameProblems(),
      ...this.#listeners.problems,
      ...this.#certificate.problems,
      ...this.#findDomainProblems(),
      ...this.#upstreams.problems,
      ...this.#responder.problems,
    ];
  }

  get hasProblems(): boolean {
    return this.#problems.length > 0;
  }

  /** Returns the problems in the current language. */
  listProblems(): readonly string[] {
    return [...new Set(this.#problems.map(readText))];
  }

  /** A name that the system announces as well makes macOS rename the computer. */
  #findNameProblems(): readonly Text[] {
    const isAnnounced = this.shared.length > 0 && this.#settings.announce;
    if (!isAnnounced || !announcesHostName(this.#platform) || this.#label !== toHostLabel(hostname())) return [];
    const name = getBaseName(this.#label);
    return [() => m.nameAnnouncedBySystem({ name })];
  }

  /** Failures of the public certificate that require the owner. */
  #findDomainProblems(): readonly Text[] {
    const { problem } = this.publicCertificates;
    return problem === undefined ? [] : [() => formatFailure(problem.code, problem.values)];
  }

  /** Action that fixes a problem, if any. */
  get remedy(): ServiceAction | undefined {
    const action =
      this.publicCertificates.problem === undefined
        ? undefined
        : { label: certificateTexts.showCertificate, to: '/network/certificate', adminOnly: true as const };
    return this.#certificate.remedy ?? action;
  }

  exposure(id: string): Exposure {
    if (this.#settings.open.includes(id)) return 'open';
    return this.#settings.shared.includes(id) ? 'sign-in' : 'off';
  }

  /** Updates listeners and the certificate to the current settings, addresses and services. */
  renew(): Promise<void> {
    return this.#updates.run(() =>
      this.#renew().catch((error: unknown) => this.#context.log.error('network update failed', { error })),
    );
  }

  /** Ends exchanges of accounts without access. */
  endRevoked(): void {
    this.#proxy.endRevoked();
    this.#ports.endRevoked();
  }

  async #renew(): Promise<void> {
    if (this.#isClosed) return;
    this.#upstreams.renew();
    this.#reservedNames.update(this.#hostNames);
    this.endRevoked();
    await this.#addresses.refresh();
    const all = this.shared.length === 0 ? [] : this.#addresses.list();
    // TCP ports need neither names nor a certificate.
    const addresses = this.#shared().length === 0 ? [] : all;
    if (addresses.length > 0) {
      const base = getBaseName(this.#label);
      const customHosts = this.#context
        .targets()
        .flatMap(({ id, hosts }) => (this.exposure(id) === 'off' ? [] : hosts));
      const computerLabel = hostNameFollowsNetwork(this.#platform) ? undefined : toHostLabel(hostname());
      const names = listCertificateNames(this.#label, { computerLabel, addresses, customHosts });
      await this.#certificate.renew(`Homeport ${base}`, names);
    }
    const certificate = this.#getListenerCertificate();
    const homeportServices = this.#shared().filter(({ id }) => !this.#upstreams.has(id));
    const webListeners = certificate === undefined ? [] : planListeners(addresses, this.#settings, homeportServices);
    await this.#listeners.update([...webListeners, ...this.#ports.planListeners(all)], certificate);
    this.#presentCertificate(certificate);
    const port = addresses.map((address) => this.#listeners.port('https', address)).find((each) => each !== undefined);
    const isAnnounced = this.#settings.announce && port !== undefined;
    await this.#responder.update(
      isAnnounced ? buildAnnouncement(this.#shared(), { label: this.#label, addresses, port }) : undefined,
    );
    this.#notify();
  }

  /** Certificates of the listeners: the local one, and the public one for the names of the domain. */
  #getListenerCertificate(): ListenerCertificate | undefined {
    const { presented } = this.#certificate;
    const named: readonly PresentedCertificate[] = [this.publicCertificates.current].filter(
      (each) => each !== undefined,
    );
    return presented && { cert: presented.cert, key: presented.key, named };
  }

  /** Applies replaced certificates to new connections; existing ones are unaffected. */
  #replaceCertificate(): void {
    this.#presentCertificate(this.#getListenerCertificate());
    this.#notify();
  }

  /** Replaces the certificates of open listeners if they changed, for example because the domain was removed. */
  #presentCertificate(certificate: ListenerCertificate | undefined): void {
    const description = JSON.stringify([certificate?.cert, ...(certificate?.named ?? []).map(({ cert }) => cert)]);
    if (certificate === undefined || description === this.#presentedCertificates) return;
    this.#presentedCertificates = description;
    this.#listeners.replaceCertificate(certificate);
  }

  /** Notifies the pages of changes. */
  #notify(): void {
    const state = JSON.stringify([
      this.#services(),
      this.#ports.list(this.#addresses.list(), this.#listeners),
      this.#settings.portNetworks,
      runInEnglish(() => this.listProblems()),
      this.#certificate.presented?.expiresAt,
      this.#responder.names,
      runInEnglish(() => this.publicCertificates.state()),
    ]);
    if (state === this.#publishedState) return;
    this.#publishedState = state;
    this.#context.bus.publish(gatewayChanged, {});
  }

  #services(): SharedService[] {
    return listSharedServices(this.#targets(), {
      label: this.#label,
      domain: this.publicCertificates.resolves ? this.#settings.acmeDomain : '',
      address: this.#addresses.list()[0],
      listeners: this.#listeners,
      exposure: (id) => this.exposure(id),
      getExternalAddress: (id) => this.#upstreams.list().find((each) => each.id === id)?.url ?? null,
    });
  }

  #addressFor(id: string, request: IncomingMessage): string | undefined {
    const client = URL.parse(this.#context.publicUrl(request) ?? '');
    if (client === null || this.exposure(id) === 'off') return undefined;
    const address = stripMappedPrefix(request.socket.localAddress);
    return findAddressForClient(id, {
      clientUrl: client,
      label: this.#label,
      domain: this.#settings.acmeDomain,
      localHostname: hostname(),
      localPort: request.socket.localPort,
      httpsPort: this.#listeners.port('https', address),
      servicePort: this.#listeners.port('service', address, id),
      names: this.#context.targets().flatMap(({ hosts }) => hosts),
    });
  }

  async state(): Promise<GatewayState> {
    const addresses = this.#addresses.list();
    const [address] = addresses;
    const httpPort = address === undefined ? undefined : this.#listeners.port('http', address);
    const { presented } = this.#certificate;
    const authority = await this.#certificate.authority();
    return {
      host: getBaseName(this.#label),
      announced: [...this.#responder.names],
      lanAddresses: [...addresses],
      services: this.#services(),
      ports: this.#ports.list(addresses, this.#listeners),
      portNetworks: [...this.#settings.portNetworks],
      trustUrl:
        address === undefined || httpPort === undefined || authority === undefined
          ? null
          : `http://${formatForUrl(address)}:${String(httpPort)}/trust`,
      certificate: toCertificateState(presented, authority?.fingerprint256),
      provider: toProviderState(this.#provider, this.#services(), this.#getHomeUrl(addresses)),
      problems: [...this.listProblems()],
    };
  }

  /** Returns the base address of this computer by name; undefined while nothing is shared. */
  #getHomeUrl([address]: readonly string[]): string | undefined {
    const port = address === undefined ? undefined : this.#listeners.port('https', address);
    return port === undefined ? undefined : `https://${getBaseName(this.#label)}:${String(port)}`;
  }

  /** Returns the page for one-time links at the address that works on most devices, as for services. */
  #getOneTimeLinkPage(): string | undefined {
    const [address] = this.#shared().length === 0 ? [] : this.#addresses.list();
    const port = address === undefined ? undefined : this.#listeners.port('https', address);
    if (address === undefined || port === undefined) return undefined;
    const host = this.publicCertificates.resolves ? this.#settings.acmeDomain : formatForUrl(address);
    return `https://${host}:${String(port)}${oneTimeLinkPath}`;
  }

  /** Runs the self-test as a device of the network. */
  async test(): Promise<SelfTest> {
    await this.renew();
    const addresses = this.shared.length === 0 ? [] : this.#addresses.list();
    const authority = await this.#certificate.authority();
    return runSelfTest({
      base: getBaseName(this.#label),
      authority: authority?.toString(),
      listeners: addresses.map((address) => ({
        address,
        https: this.#listeners.port('https', address),
        http: this.#listeners.port('http', address),
      })),
      shared: this.#context
        .targets()
        .filter(({ id }) => this.exposure(id) !== 'off')
        .map(({ id, title, port }) => ({ title, host: getServiceName(id, this.#label), running: port !== undefined })),
      ports: this.#ports.list(addresses, this.#listeners).filter(({ shared }) => shared),
      announces: this.#settings.announce,
      announced: this.#responder.names,
      visitors: this.#clientAddresses.list(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.publicCertificates[Symbol.asyncDispose]();
    this.#addressProvider[Symbol.dispose]();
    this.#ports.close();
    await this.#updates.settled();
    this.#reservedNames[Symbol.dispose]();
    this.#upstreams[Symbol.dispose]();
    await this.#responder[Symbol.asyncDispose]();
  }
}
