/** The bundle as a policy language: what is published is its canonical text, what is enforced is compiled from that. */
import type { Digest } from '../domain/ids.js';
import { canonicalJson } from '../proof/canonical.js';
import { bundleDigest, parseBundle, withoutUndefined } from './bundle.js';
import { compilePolicy } from './compilePolicy.js';
import type { CompiledPolicy } from './port.js';

export const bundleLanguage = {
  /** @throws CatalogError BAD_REQUEST/INVALID_BUNDLE with every error */
  parse: (value: unknown): { readonly text: string; readonly digest: Digest } => {
    const bundle = parseBundle(value);
    return { text: canonicalJson(withoutUndefined(bundle)), digest: bundleDigest(bundle) };
  },
  /** @param text what was stored under `epoch` */
  compile: (text: string, epoch: number): CompiledPolicy =>
    compilePolicy(parseBundle(JSON.parse(text)), epoch),
};
