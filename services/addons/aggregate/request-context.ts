import type { AddonConfig } from '../domain/config.ts';
import type { PipelineResult } from '../domain/pipeline/pipeline.ts';
import type { ConfigurationIdentity } from './configured-addons.ts';

/** Configuration and addresses of a request. */
export interface RequestContext extends ConfigurationIdentity {
  readonly config: AddonConfig;
  /** IDs of the variants in the address, separated by commas. */
  readonly variants?: string;
  /** Changes whenever the configuration changes. */
  readonly revision: string;
  /** Public address of the service for links in responses. */
  readonly baseUrl: string;
  /** Address of the page where the configuration is edited. */
  readonly configureUrl: string;
  /** Includes parsed attributes with each stream. */
  readonly withData: boolean;
  /** Set for configurations that are stored in the database. */
  readonly trusted: boolean;
  /** User agent of the player. */
  readonly player?: string;
  /** Replaces stream addresses by addresses of the built-in proxy. */
  readonly proxy: (result: PipelineResult) => PipelineResult;
}
