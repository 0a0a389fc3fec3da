import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../kit/platform/file-replacement.ts';
import type { Log } from '../../contracts/service.ts';
import { isNativeUrl } from '../destinations/catalogue.ts';
import type { Library } from './library.ts';
import { engineServices, refusedSchemes } from '../../contracts/notify/engine-schemes.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { SingleFlight } from '../../kit/single-flight.ts';

/** Timeout for the description of the library's services; a caller waits for it. */
const requestTimeoutMs = 20_000;

const Service = z.object({
  service_name: z.string(),
  service_url: z.string().nullable(),
  setup_url: z.string().nullable(),
  protocols: z.array(z.string()),
  secure_protocols: z.array(z.string()),
  attachment_support: z.boolean(),
  category: z.string(),
  /** False if the library lacks a package for the service. */
  enabled: z.boolean(),
  packages: z.array(z.string()),
  /** URL grammar in the format of Apprise. */
  details: z.looseObject({}),
});
/** Service as the library describes it. */
export type LibraryService = z.infer<typeof Service>;

const Catalogue = z.object({ version: z.string(), schemas: z.array(Service) });
type Catalogue = z.infer<typeof Catalogue>;
const CatalogueReply = z.object({ catalogue: Catalogue });

/** Services that are delivered by the engine. */
export interface LibraryServices {
  /** True if the engine is installed. */
  readonly ready: boolean;
  readonly services: readonly LibraryService[];
}

/**
 * Catalogue of the library's services. It is requested once per release and stored in a file, so that displaying it
 * does not start Python.
 */
export class EngineCatalogue {
  readonly #library: Library;
  readonly #file: string;
  readonly #log: Log;
  #catalogue: Catalogue | undefined;
  readonly #request = new SingleFlight(() => this.#fetchCatalogue());

  constructor({ library, files, log }: { readonly library: Library; readonly files: string; readonly log: Log }) {
    this.#library = library;
    this.#file = join(files, 'apprise-catalogue.json');
    this.#log = log;
  }

  /**
   * Returns the services that are not native. Without a stored catalogue, returns the services known to Homeport,
   * without their grammar.
   */
  async listServices(): Promise<LibraryServices> {
    const version = await this.#library.version();
    this.#catalogue ??= await this.#readFile();
    if (version !== undefined && this.#catalogue?.version !== version) {
      this.#catalogue = (await this.#request.run()) ?? this.#catalogue;
    }
    const services = this.#catalogue?.schemas.flatMap(removeNative) ?? engineServices.map(toPlainService);
    return { ready: version !== undefined, services };
  }

  async #fetchCatalogue(): Promise<Catalogue | undefined> {
    try {
      const { catalogue } = await this.#library.run(
        (child, stop) => child.request({ op: 'catalogue' }, CatalogueReply, stop),
        AbortSignal.timeout(requestTimeoutMs),
      );
      await writeFile(`${this.#file}.new`, JSON.stringify(catalogue), { mode: 0o600 });
      await replaceFile(`${this.#file}.new`, this.#file);
      return catalogue;
    } catch (error) {
      this.#log.warn('apprise catalogue request failed', { error });
      return undefined;
    }
  }

  async #readFile(): Promise<Catalogue | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    // A file that cannot be parsed is treated as missing, and the library is called again.
    return Catalogue.safeParse(parseJson(text)).data;
  }
}

function removeNative(service: LibraryService): readonly LibraryService[] {
  const isForeign = (scheme: string): boolean => !isNativeUrl(`${scheme}://`) && !refusedSchemes.includes(scheme);
  const protocols = service.protocols.filter(isForeign);
  const secure = service.secure_protocols.filter(isForeign);
  return protocols.length + secure.length === 0 ? [] : [{ ...service, protocols, secure_protocols: secure }];
}

function toPlainService({ name, protocols, secureProtocols }: (typeof engineServices)[number]): LibraryService {
  const values = [...protocols, ...secureProtocols];
  return {
    service_name: name,
    service_url: null,
    setup_url: null,
    attachment_support: false,
    category: 'native',
    protocols: [...protocols],
    secure_protocols: [...secureProtocols],
    enabled: true,
    packages: [],
    details: {
      templates: [],
      tokens: { schema: { name: 'Schema', type: 'choice:string', values } },
      args: {},
      kwargs: {},
    },
  };
}
