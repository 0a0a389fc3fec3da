import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isGatewayRequest } from '../../contracts/gateway.ts';
import type { Context } from '../../contracts/service.ts';
import type { Asker } from '../aggregate/request-context.ts';
import type { AddonConfig } from '../domain/config.ts';
import { LruMap } from '../domain/lru-map.ts';
import { withVariants } from '../domain/variants/variants.ts';
import { decodeConfig } from '../domain/read-config.ts';
import type { Profile, Profiles } from '../profiles/profiles.ts';
import type { StreamProxy } from '../proxy/stream-proxy.ts';

/** Maximum length of a stored user agent. */
const longestPlayer = 256;

/** Returns true for nested aggregators and for clients that request parsed attributes. */
function wantsData({ headers }: IncomingMessage): boolean {
  return /AIOStreams\/|Homeport\//.test(headers['user-agent'] ?? '');
}

export interface AskersOptions {
  readonly profiles: Profiles;
  readonly proxy: StreamProxy;
  readonly baseUrl: string;
  readonly caller: Context['caller'];
  readonly publicUrl: Context['publicUrl'];
}

/** Creates the request context of a client. */
export class Askers {
  readonly #options: AskersOptions;
  readonly #stateless = new LruMap<string, { readonly config: AddonConfig; readonly revision: string }>(100);
  readonly #varieties = new LruMap<string, AddonConfig>(100);

  constructor(options: AskersOptions) {
    this.#options = options;
  }

  /**
   * Returns true for requests of another site or of an unknown visitor from the network. Configurations created by them
   * do not get the permissions of the owner.
   *
   * @param options.known The client sent the addon password.
   */
  isForeign(request: IncomingMessage, { known = false } = {}): boolean {
    const { caller, baseUrl } = this.#options;
    const { isCrossSite: foreignSite, gatewayIdentity: proven } = caller(request);
    const { origin = '' } = request.headers;
    if (foreignSite && (baseUrl === '' || URL.parse(origin)?.origin !== URL.parse(baseUrl)?.origin)) return true;
    return isGatewayRequest(request) && proven === undefined && !known;
  }

  /** Returns the public address of the request for links in the response. */
  baseUrl(request: IncomingMessage): string {
    const { baseUrl, publicUrl } = this.#options;
    return baseUrl === '' ? (publicUrl(request) ?? 'http://127.0.0.1') : baseUrl.replace(/\/+$/, '');
  }

  /**
   * Creates the context of a stored configuration.
   *
   * @param variants IDs of the variants in the address.
   */
  async ofProfile(request: IncomingMessage, uuid: string, encryptedPassword: string, variants = ''): Promise<Asker> {
    return this.withProfile(request, await this.#options.profiles.openSealed(uuid, encryptedPassword), variants);
  }

  /**
   * Creates the context of an opened configuration.
   *
   * @throws Problem `addons.invalid_variant` (400)
   */
  withProfile(request: IncomingMessage, profile: Profile, variants = ''): Asker {
    const { uuid, encryptedPassword, foreign, publicOnly } = profile;
    const { config, revision } = variants === '' ? profile : this.#varied(profile, variants);
    const segment = this.#options.profiles.segment(profile);
    const baseUrl = this.baseUrl(request);
    return {
      config,
      uuid,
      ...(variants === '' ? {} : { variants }),
      marks: [encryptedPassword, segment],
      revision,
      baseUrl,
      configureUrl: `${baseUrl}/stremio/${uuid}/${encryptedPassword}/configure`,
      withData: wantsData(request),
      player: (request.headers['user-agent'] ?? '').slice(0, longestPlayer),
      trusted: true,
      foreign,
      publicOnly,
      proxy: this.#options.proxy.applying(config, baseUrl, publicOnly),
    };
  }

  #varied({ uuid, config, revision }: Profile, variants: string): { config: AddonConfig; revision: string } {
    const id = `${revision} ${variants}`;
    const key = `${uuid} ${id}`;
    const known = this.#varieties.get(key);
    if (known !== undefined) return { config: known, revision: id };
    const made = withVariants(config, variants);
    this.#varieties.set(key, made);
    return { config: made, revision: id };
  }

  /**
   * Creates the context of a configuration that is encoded in the address.
   *
   * @throws Problem `addons.invalid_config` (400)
   */
  ofAddress(request: IncomingMessage, encoded: string): Asker {
    let known = this.#stateless.get(encoded);
    if (known === undefined) {
      known = {
        config: decodeConfig(encoded),
        revision: createHash('sha256').update(encoded).digest('hex').slice(0, 24),
      };
      this.#stateless.set(encoded, known);
    }
    return this.ofConfig(request, known.config, known.revision, [encoded]);
  }

  ofConfig(request: IncomingMessage, config: AddonConfig, revision: string, marks: readonly string[] = []): Asker {
    const baseUrl = this.baseUrl(request);
    return {
      config,
      uuid: undefined,
      marks,
      revision,
      baseUrl,
      configureUrl: `${baseUrl}/stremio/configure`,
      withData: wantsData(request),
      player: (request.headers['user-agent'] ?? '').slice(0, longestPlayer),
      trusted: false,
      foreign: this.isForeign(request),
      proxy: this.#options.proxy.applying(config, baseUrl, this.isForeign(request)),
    };
  }
}
