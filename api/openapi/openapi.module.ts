import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ApiDescription } from './description.js';
import { OpenApiController } from './openapi.controller.js';

@Module({
  controllers: [OpenApiController],
  providers: [ApiDescription],
  imports: [DiscoveryModule],
  exports: [ApiDescription],
})
export class OpenApiModule {}
