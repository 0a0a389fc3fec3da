import { Problem } from '../../contracts/problem.ts';
import type { AddonConfig, Preset } from '../domain/config.ts';
import { isKnownPreset, manifestUrlOf, presetKind } from '../domain/presets.ts';
import type { AddressPolicy, Trust } from '../upstream/address-policy.ts';
import { isManifestUrl, makeAddon, type Addon, type BuiltIn } from './addon.ts';

/** Makes an addon that lives here, for a preset of a kind that does. */
export type MakeBuiltIn = (preset: Preset, config: AddonConfig, self: Self) => BuiltIn | undefined;

export interface AddonsOfOptions {
  readonly policy: AddressPolicy;
  readonly defaultTimeoutMs: number;
  readonly maxAddons: number;
  readonly disableSelfScraping: boolean;
  readonly makeBuiltIn: MakeBuiltIn;
  /** How far the owner lets addons reach. */
  readonly trust: Trust;
}

/** Who is asking, so that a configuration does not ask itself. */
export interface Self {
  readonly uuid: string | undefined;
  /** Texts in an address that lead back to it. */
  readonly marks: readonly string[];
  /** Where the service answers, for addresses in answers; empty where nothing is played. */
  readonly baseUrl?: string;
  /** A page of another site made it: it may reach public addresses alone. */
  readonly foreign?: boolean;
  /** An account that is no administrator made it: it may reach public addresses alone. */
  readonly publicOnly?: boolean;
}

/** The addons of a configuration that are switched on, and what is wrong with those that cannot be asked. */
export interface ConfiguredAddons {
  readonly addons: readonly Addon[];
  readonly problems: readonly { readonly name: string; readonly sentence: string; readonly preset: Preset }[];
}

/** @see ConfiguredAddons */
export function addonsOf(config: AddonConfig, self: Self, options: AddonsOfOptions): ConfiguredAddons {
  const addons: Addon[] = [];
  const problems: { name: string; sentence: string; preset: Preset }[] = [];
  for (const preset of config.presets) {
    if (!preset.enabled) continue;
    const name = nameOf(preset);
    if (addons.length >= options.maxAddons) {
      problems.push({
        name,
        sentence: `${name} is one addon too many; ${String(options.maxAddons)} are asked.`,
        preset,
      });
      continue;
    }
    const builtIn = options.makeBuiltIn(preset, config, self);
    const manifestUrl = builtIn === undefined ? manifestUrlOf(preset) : '';
    const sentence = builtIn === undefined ? addressProblem(name, manifestUrl, self, options) : undefined;
    if (sentence !== undefined) problems.push({ name, sentence, preset });
    else
      addons.push(
        makeAddon(
          preset,
          {
            ...{ name, manifestUrl: manifestUrl ?? '', part: '' },
            trust: self.foreign === true || self.publicOnly === true ? 'other' : options.trust,
            ...(builtIn === undefined ? {} : { builtIn }),
          },
          addons.length,
          options.defaultTimeoutMs,
        ),
      );
  }
  return { addons, problems };
}

function nameOf({ type, options }: Preset): string {
  if (options.name !== undefined && options.name.trim() !== '') return options.name.trim();
  return presetKind(type)?.name ?? type;
}

function addressProblem(
  name: string,
  manifestUrl: string | undefined,
  self: Self,
  { policy, disableSelfScraping }: AddonsOfOptions,
): string | undefined {
  if (manifestUrl === undefined) return `${name} is of a kind that is not known here, and has no manifest address.`;
  if (!isManifestUrl(manifestUrl))
    return `${name} has an invalid Manifest URL. It must be a valid link to a manifest.json`;
  if (leadsBack(manifestUrl, self))
    return `${name} would cause infinite self scraping, ensure you wrap a different user.`;
  if (disableSelfScraping && policy.isOwn(manifestUrl))
    return `${name} is an addon of this very service, which the settings refuse.`;
  return undefined;
}

/** Also behind percent signs and capitals. */
function leadsBack(address: string, { uuid, marks }: Self): boolean {
  let plain = address;
  for (let round = 0; round < 3 && plain.includes('%'); round += 1) {
    try {
      plain = decodeURIComponent(plain);
    } catch {
      break;
    }
  }
  const lower = plain.toLowerCase();
  return (uuid !== undefined && lower.includes(uuid)) || marks.some((mark) => mark !== '' && plain.includes(mark));
}

/**
 * Those of kinds that are not known here are kept, since configurations of other programs have many; lists say so.
 * @throws Problem `addons.invalid_config` (400) for the first other addon that cannot be asked.
 */
export function requireAddons(configured: ConfiguredAddons): readonly Addon[] {
  const problem = configured.problems.find(({ preset }) => isKnownPreset(preset));
  if (problem !== undefined) throw new Problem('addons.invalid_config', 400, problem.sentence);
  return configured.addons;
}
