import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import type { Context } from '../../contracts/service.ts';
import type { RequestContext } from '../aggregate/request-context.ts';
import type { AddonConfig } from '../domain/config.ts';
import { LruMap } from '../../kit/lru-map.ts';
import { applyVariants } from '../domain/variants/variants.ts';
import { decodeConfig } from '../domain/read-config.ts';
import { encodeAddressSegment } from '../profiles/address-segment.ts';
import type { Profile, Profiles } from '../profiles/profiles.ts';
import type { StreamProxy } from '../proxy/stream-proxy.ts';
import type { Settings } from '../settings.ts';

/** Maximum length of a stored user agent. */
const maxPlayerLength = 256;

/** Returns true for nested aggregators and for clients that request parsed attributes. */
function requestsParsedData({ headers }: IncomingMessage): boolean {
  return /AIOStreams\/|Homeport\//.test(headers['user-agent'] ?? '');
}

/** Creates the request context of a client. */
export class RequestContextFactory {
  readonly #context: Pick<Context, 'caller' | 'publicUrl'>;
  readonly #settings: Pick<Settings, 'baseUrl'>;
  readonly #profiles: Profiles;
  readonly #proxy: StreamProxy;
  readonly #addressConfigs = new LruMap<string, { readonly config: AddonConfig; readonly revision: string }>(100);
  readonly #variantConfigs = new LruMap<string, AddonConfig>(100);

  constructor(
    context: Pick<Context, 'caller' | 'publicUrl'>,
    settings: Pick<Settings, 'baseUrl'>,
    profiles: Profiles,
    proxy: StreamProxy,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#profiles = profiles;
    this.#proxy = proxy;
  }

  /**
   * Returns true for requests of another site or of an unknown visitor from the network. Configurations created by them
   * do not get the permissions of the owner.
   *
   * @param options.hasPassword The client sent the addon password.
   */
  isForeign(request: IncomingMessage, { hasPassword = false } = {}): boolean {
    const { caller } = this.#context;
    const { baseUrl } = this.#settings;
    const { isCrossSite, gatewayIdentity } = caller(request);
    const { origin = '' } = request.headers;
    if (isCrossSite && (baseUrl === '' || URL.parse(origin)?.origin !== URL.parse(baseUrl)?.origin)) return true;
    return isGatewayRequest(request) && gatewayIdentity === undefined && !hasPassword;
  }

  /** Returns the public address of the request for links in the response. */
  getBaseUrl(request: IncomingMessage): string {
    const { publicUrl } = this.#context;
    const { baseUrl } = this.#settings;
    return baseUrl === '' ? (publicUrl(request) ?? 'http://127.0.0.1') : baseUrl.replace(/\/+$/, '');
  }

  /**
   * Creates the context of a stored configuration.
   *
   * @param variants IDs of the variants in the address.
   */
  async fromInstallAddress(
    request: IncomingMessage,
    uuid: string,
    encryptedPassword: string,
    variants = '',
  ): Promise<RequestContext> {
    return this.fromProfile(request, await this.#profiles.openSealed(uuid, encryptedPassword), variants);
  }

  /**
   * Creates the context of an opened configuration.
   *
   * @throws Problem `addons.invalid_variant` (400)
   */
  fromProfile(request: IncomingMessage, profile: Profile, variants = ''): RequestContext {
    const { uuid, encryptedPassword, foreign, publicOnly } = profile;
    const { config, revision } = variants === '' ? profile : this.#applyVariants(profile, variants);
    const segment = encodeAddressSegment(profile);
    const baseUrl = this.getBaseUrl(request);
    return {
      config,
      uuid,
      ...(variants === '' ? {} : { variants }),
      addressMarkers: [encryptedPassword, segment],
      revision,
      baseUrl,
      configureUrl: `${baseUrl}/stremio/${uuid}/${encryptedPassword}/configure`,
      withData: requestsParsedData(request),
      player: (request.headers['user-agent'] ?? '').slice(0, maxPlayerLength),
      trusted: true,
      foreign,
      publicOnly,
      proxy: this.#proxy.createRewriter(config, baseUrl, publicOnly),
    };
  }

  #applyVariants({ uuid, config, revision }: Profile, variants: string): { config: AddonConfig; revision: string } {
    const variantRevision = `${revision} ${variants}`;
    const key = `${uuid} ${variantRevision}`;
    const cachedConfig = this.#variantConfigs.get(key);
    if (cachedConfig !== undefined) return { config: cachedConfig, revision: variantRevision };
    const variantConfig = applyVariants(config, variants);
    this.#variantConfigs.set(key, variantConfig);
    return { config: variantConfig, revision: variantRevision };
  }

  /**
   * Creates the context of a configuration that is encoded in the address.
   *
   * @throws Problem `addons.invalid_config` (400)
   */
  fromAddress(request: IncomingMessage, encoded: string): RequestContext {
    let cachedConfig = this.#addressConfigs.get(encoded);
    if (cachedConfig === undefined) {
      cachedConfig = {
        config: decodeConfig(encoded),
        revision: createHash('sha256').update(encoded).digest('hex').slice(0, 24),
      };
      this.#addressConfigs.set(encoded, cachedConfig);
    }
    return this.fromConfig(request, cachedConfig.config, cachedConfig.revision, [encoded]);
  }

  fromConfig(
    request: IncomingMessage,
    config: AddonConfig,
    revision: string,
    addressMarkers: readonly string[] = [],
  ): RequestContext {
    const baseUrl = this.getBaseUrl(request);
    return {
      config,
      uuid: undefined,
      addressMarkers,
      revision,
      baseUrl,
      configureUrl: `${baseUrl}/stremio/configure`,
      withData: requestsParsedData(request),
      player: (request.headers['user-agent'] ?? '').slice(0, maxPlayerLength),
      trusted: false,
      foreign: this.isForeign(request),
      proxy: this.#proxy.createRewriter(config, baseUrl, this.isForeign(request)),
    };
  }
}
