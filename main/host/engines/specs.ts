import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { ServiceManifest } from '../../../services/contracts/service.ts';
import { getArchiveFiles } from './release-archive.ts';

/**
 * Returns the engines of all services in their order.
 * @throws Error when two manifests use the same name differently, or a part names an unknown engine: a defect of the
 * code.
 */
export function getEngineSpecs(services: readonly Pick<ServiceManifest, 'engines'>[]): readonly EngineSpec[] {
  const specs = new Map<string, EngineSpec>();
  for (const spec of services.flatMap(({ engines = [] }) => engines)) {
    if (!/^[a-z][a-z0-9-]*$/.test(spec.name) || spec.name === 'python') throw new Error(`engine name "${spec.name}"`);
    const existing = specs.get(spec.name);
    if (existing !== undefined && existing !== spec) throw new Error(`two engines are called "${spec.name}"`);
    specs.set(spec.name, spec);
  }
  for (const { name, partOf } of specs.values()) {
    if (partOf !== undefined && !specs.has(partOf)) throw new Error(`"${name}" is part of "${partOf}", which is none`);
  }
  return [...specs.values()];
}

/** Returns the version that an installation provides; null when the system decides. */
export function offeredVersion({ sources, python }: EngineSpec, computer: Computer): string | null {
  const archive = sources.find(
    (source) => source.from === 'archive' && getArchiveFiles(source, computer) !== undefined,
  );
  if (archive?.from === 'archive') return archive.version;
  const release = sources.find((source) => source.from === 'release');
  const wheel = sources.find((source) => source.from === 'wheel');
  return release?.version ?? python?.version ?? wheel?.package.version ?? null;
}
