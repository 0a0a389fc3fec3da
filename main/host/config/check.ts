import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import type { SettingsProblem } from '../../../services/contracts/control/settings.ts';
import { readDocument, type SettingsDocument } from './document.ts';
import { resolveLayers } from './layers.ts';
import { isSealed, replaceSecrets } from './secrets.ts';
import { settingsSections, type Section } from './sections.ts';

/** Result of checking a settings file. */
export interface CheckResult {
  /** Invalid values. */
  readonly problems: readonly SettingsProblem[];
  /** Unknown names. */
  readonly warnings: readonly SettingsProblem[];
}

/** Checks a homeport.yaml or an export without applying it, independent of the environment. */
export function checkConfig(text: string, descriptors: readonly ServiceDescriptor[]): CheckResult {
  return checkDocument(readDocument(text), settingsSections(descriptors));
}

/** Checks a parsed document. Sealed secrets are not opened and pass. */
export function checkDocument(document: SettingsDocument, sections: readonly Section[]): CheckResult {
  const sealed = findSealedPaths(document, sections);
  const { problems, warnings } = resolveLayers(sections, document, { environment: {}, commandLine: {} });
  return {
    problems: problems.filter(({ path }) => !sealed.some((each) => path === each || path.startsWith(`${each}.`))),
    warnings,
  };
}

function findSealedPaths({ content }: SettingsDocument, sections: readonly Section[]): string[] {
  const paths: string[] = [];
  for (const section of sections) {
    const values = section.id === 'host' ? content.host : (content.services[section.id] ?? {});
    for (const field of section.fields) {
      replaceSecrets(values[field.name], field.place, (secret, path) => {
        if (isSealed(secret)) paths.push([field.path, ...path].join('.'));
        return secret;
      });
    }
  }
  return paths;
}
