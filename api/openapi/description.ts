import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { VERSION } from '../../config/version.js';
import { openApiDocument } from './document.js';
import { type Route, routesOf } from './routes.js';

@Injectable()
export class ApiDescription {
  private made?: Record<string, unknown>;

  constructor(private readonly discovery: DiscoveryService) {}

  document(): Record<string, unknown> {
    this.made ??= openApiDocument(this.controllers(), VERSION);
    return this.made;
  }

  routes(): Route[] {
    return this.controllers().flatMap(routesOf);
  }

  private controllers() {
    return this.discovery.getControllers().flatMap(({ metatype }) => (isClass(metatype) ? [metatype] : []));
  }
}

function isClass(value: unknown): value is new (...args: unknown[]) => unknown {
  return typeof value === 'function' && value.prototype !== undefined;
}
