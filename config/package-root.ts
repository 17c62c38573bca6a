/** Where the package lies, as seen from this file's source and from its built form. */
export const PACKAGE_ROOT = new URL(import.meta.url.endsWith('.ts') ? '../' : '../../', import.meta.url);
