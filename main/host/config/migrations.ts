import { type Document, isMap, isScalar, YAMLMap } from 'yaml';

/** Version that this code writes. */
export const currentVersion = 1;

/** Converts a document to the next version; returns a new document. */
type Step = (document: Document) => Document;

/**
 * Step `n` converts version `n` to `n + 1`. A released step is never edited, and each has a stored old sample under
 * test/host/config/samples. Steps work on the YAML document, so that comments and unknown keys are preserved.
 */
const steps: readonly Step[] = [fromUnversioned];

/** Runs the steps from `version` to the current one. */
export function migrate(document: Document, version: number): Document {
  return steps.slice(version).reduce((current, step) => step(current), document.clone());
}

/** Version 0 had no `version`: services were at the top level, and all ports together under `ports`. */
function fromUnversioned(old: Document): Document {
  const document = old.clone();
  if (!isMap(document.contents)) return document;
  const root = document.contents;
  const existing = root.get('services');
  const services = isMap(existing) ? existing : new YAMLMap();
  const ports = root.get('ports');

  for (const pair of [...root.items]) {
    const name = isScalar(pair.key) ? pair.key.value : pair.key;
    if (name === 'host' || name === 'services' || name === 'ports' || !isMap(pair.value)) continue;
    root.delete(name);
    services.delete(name);
    services.items.push(pair);
  }
  if (isMap(ports)) {
    for (const { key, value } of ports.items) {
      const id = isScalar(key) ? key.value : key;
      const service = services.get(id);
      if (isMap(service)) service.set('port', value);
      else services.set(id, document.createNode({ port: value }));
    }
    root.delete('ports');
  }
  root.delete('services');
  if (services.items.length > 0) root.set('services', services);
  root.items.unshift(document.createPair('version', 1));
  return document;
}
