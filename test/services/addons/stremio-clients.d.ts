/** Types for the parts of the clients that the tests use; the clients have none. */
declare module 'stremio-addon-client' {
  interface AddonClient {
    readonly manifest: any;
    get(resource: string, type: string, id: string, extra?: Readonly<Record<string, string>>): Promise<any>;
    isSupported(resource: string, type: string, id: string): boolean;
  }
  const client: {
    AddonClient: { detectFromURL(url: string): Promise<{ readonly addon: AddonClient }> };
    detectFromURL(url: string): Promise<{ readonly addon: AddonClient }>;
  };
  export default client;
}
declare module 'stremio-addon-linter' {
  const linter: {
    lintManifest(manifest: unknown): {
      readonly valid: boolean;
      readonly errors: readonly Error[];
      readonly warnings: readonly Error[];
    };
  };
  export default linter;
}
