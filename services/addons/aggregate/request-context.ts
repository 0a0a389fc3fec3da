import type { AddonConfig } from '../domain/config.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { Self } from './configured-addons.ts';

/** Whose configuration is asked, and through which address. */
export interface Asker extends Self {
  readonly config: AddonConfig;
  /** Ids of the variants of it that the address names. */
  readonly variants?: string;
  /** Changes with the configuration. */
  readonly revision: string;
  /** Where the service answers, for addresses in the answer. */
  readonly baseUrl: string;
  /** Where the person can change things. */
  readonly configureUrl: string;
  /** What was read goes along with the streams. */
  readonly withData: boolean;
  /** The configuration was made on the page. */
  readonly trusted: boolean;
  /** As the player names itself. */
  readonly player?: string;
  /** Passes the built-in proxy. */
  readonly proxy: (result: PipelineResult) => PipelineResult;
}
