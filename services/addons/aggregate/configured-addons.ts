import * as m from '#messages/addons-problems';
import { Problem } from '../../contracts/problem.ts';
import type { AddonConfig, Preset } from '../domain/config.ts';
import { isKnownPreset, getManifestUrl, findPresetKind } from '../domain/presets.ts';
import type { AddressPolicy, Trust } from '../upstream/address-policy.ts';
import { isManifestUrl, buildAddon, type Addon, type AddonAddress, type BuiltIn } from '../upstream/addon.ts';
import { decodePercentEncoding } from '../../contracts/percent-encoding.ts';

/** Creates the built-in addon of a preset. Returns undefined for presets that are not built in. */
export type CreateBuiltIn = (
  preset: Preset,
  config: AddonConfig,
  identity: ConfigurationIdentity,
) => BuiltIn | undefined;

export interface ResolveAddonsOptions {
  readonly policy: AddressPolicy;
  readonly defaultTimeoutMs: number;
  readonly maxAddons: number;
  readonly disableSelfScraping: boolean;
  readonly createBuiltIn: CreateBuiltIn;
  /** Limits the addresses that addons may have. */
  readonly trust: Trust;
}

/** Identifies a configuration, so that it never requests itself. */
export interface ConfigurationIdentity {
  readonly uuid: string | undefined;
  /** Parts of an address that lead back to the configuration. */
  readonly addressMarkers: readonly string[];
  /** Public address of the service for links in responses; empty where nothing is played. */
  readonly baseUrl?: string;
  /** Created by a page of another site; limited to public addresses. */
  readonly foreign?: boolean;
  /** Created by an account that is not an administrator; limited to public addresses. */
  readonly publicOnly?: boolean;
}

/** Enabled addons of a configuration, and the problems of the ones that cannot be requested. */
export interface ConfiguredAddons {
  readonly addons: readonly Addon[];
  readonly problems: readonly { readonly name: string; readonly sentence: string; readonly preset: Preset }[];
}

/** Resolves the enabled addons of a configuration. */
export function resolveAddons(
  config: AddonConfig,
  identity: ConfigurationIdentity,
  options: ResolveAddonsOptions,
): ConfiguredAddons {
  const addons: Addon[] = [];
  const problems: { name: string; sentence: string; preset: Preset }[] = [];
  for (const preset of config.presets) {
    if (!preset.enabled) continue;
    const name = getAddonName(preset);
    if (addons.length >= options.maxAddons) {
      problems.push({
        name,
        sentence: m.addonsTooMany({ name, maximum: options.maxAddons }),
        preset,
      });
      continue;
    }
    const builtIn = options.createBuiltIn(preset, config, identity);
    const manifestUrl = builtIn === undefined ? getManifestUrl(preset) : '';
    const sentence = builtIn === undefined ? addressProblem(name, manifestUrl, identity, options) : undefined;
    if (sentence !== undefined) problems.push({ name, sentence, preset });
    else {
      const address: AddonAddress = {
        name,
        manifestUrl: manifestUrl ?? '',
        suffix: '',
        trust: identity.foreign === true || identity.publicOnly === true ? 'other' : options.trust,
        ...(builtIn === undefined ? {} : { builtIn }),
      };
      addons.push(buildAddon(preset, address, addons.length, options.defaultTimeoutMs));
    }
  }
  return { addons, problems };
}

function getAddonName({ type, options }: Preset): string {
  if (options.name !== undefined && options.name.trim() !== '') return options.name.trim();
  return findPresetKind(type)?.name ?? type;
}

function addressProblem(
  name: string,
  manifestUrl: string | undefined,
  identity: ConfigurationIdentity,
  { policy, disableSelfScraping }: ResolveAddonsOptions,
): string | undefined {
  if (manifestUrl === undefined) return m.addonKindUnknown({ name });
  if (!isManifestUrl(manifestUrl)) return m.manifestUrlInvalid({ name });
  if (isOwnConfiguration(manifestUrl, identity)) return m.addonIsItself({ name });
  if (disableSelfScraping && policy.isOwnAddress(manifestUrl)) return m.addonIsLocal({ name });
  return undefined;
}

/** Detects addresses of the same configuration, including percent-encoded and differently capitalized ones. */
function isOwnConfiguration(address: string, { uuid, addressMarkers }: ConfigurationIdentity): boolean {
  let decodedAddress = address;
  for (let pass = 0; pass < 3 && decodedAddress.includes('%'); pass += 1) {
    const decoded = decodePercentEncoding(decodedAddress);
    if (decoded === undefined) break;
    decodedAddress = decoded;
  }
  const lowerCaseAddress = decodedAddress.toLowerCase();
  return (
    (uuid !== undefined && lowerCaseAddress.includes(uuid)) ||
    addressMarkers.some((marker) => marker !== '' && decodedAddress.includes(marker))
  );
}

/**
 * Returns the addons, unless one of them has a problem. Addons of unknown kinds are ignored, because configurations of
 * other programs contain many of them.
 *
 * @throws Problem `addons.invalid_config` (400) for the first addon of a known kind that cannot be requested.
 */
export function requireAddons(configured: ConfiguredAddons): readonly Addon[] {
  const firstProblem = configured.problems.find(({ preset }) => isKnownPreset(preset));
  if (firstProblem !== undefined) throw new Problem('addons.invalid_config', 400, firstProblem.sentence);
  return configured.addons;
}
